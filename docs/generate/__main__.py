"""`python -m docs.generate`: write the generated pages again."""

from docs.generate.pages import DIRECTORY, GENERATED, PAGES


def main() -> None:
    """Write every page, and name those that changed."""
    for name, page in PAGES.items():
        path = DIRECTORY / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(DIRECTORY.parent)}")
    there = {path for directory in GENERATED for path in (DIRECTORY / directory).glob("*.md")}
    for path in there - {DIRECTORY / name for name in PAGES}:
        path.unlink()
        print(f"removed {path.relative_to(DIRECTORY.parent)}")


if __name__ == "__main__":
    main()
