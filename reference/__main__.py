"""`python -m reference`: write the reference pages again."""

from reference.pages import DIRECTORY, PAGES


def main() -> None:
    """Write every page, and name those that changed."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        path = DIRECTORY / name
        text = page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(DIRECTORY.parents[1])}")
    for path in set(DIRECTORY.glob("*.md")) - {DIRECTORY / name for name in PAGES}:
        path.unlink()
        print(f"removed {path.relative_to(DIRECTORY.parents[1])}")


if __name__ == "__main__":
    main()
