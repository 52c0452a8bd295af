"""What a program is started with besides its configuration, as a scenario writes it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    StringConstraints,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from devkit.traffic.model import DIRECTORY
from located_config.quantity import refused

SCRATCH = "TMPDIR"
"""The variable for where a program's temporary files go."""
_STACK_PREFIXES = ("DEVKIT_", "AWS_")
_STACK_SETTINGS = {
    "spark.master": "write `slots`, and `executors` for processes of their own",
    "spark.driver.host": "leave it out",
    "spark.driver.bindAddress": "leave it out",
    "spark.driver.extraClassPath": "leave it out",
    "spark.hadoop.fs.s3a.endpoint": "leave it out",
}


def _check_variable(name: str) -> str:
    if name.startswith(_STACK_PREFIXES):
        raise ValueError(f"{name} is given by the stack; leave it out")
    return name


def _check_spark_key(key: str) -> str:
    if not key.startswith("spark."):
        raise refused("is no setting of Spark's", f"write for example spark.{key}")
    if key in _STACK_SETTINGS:
        raise refused("is given by the stack", _STACK_SETTINGS[key])
    return key


def _as_text(value: object) -> object:
    """As Spark takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"), AfterValidator(_check_variable)]
SparkKey = Annotated[str, AfterValidator(_check_spark_key)]
SparkValue = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | int | float | bool)]


_TIME_BASED = "Whether it may hold a time, which no stretch reaches: a scenario with one keeps the file's pace."


class Variable(BaseModel):
    """The value of an environment variable; text stands for one that may hold a time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: str = Field(description="The text that the program gets.", examples=["500"])
    time_based: bool = Field(default=True, description=_TIME_BASED)


class RawConfig(BaseModel):
    """Text that a program gets as its configuration file, unchecked; of a `file` it is read with the scenario."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = Field(
        default="", description="File with the text, relative to the scenario's.", examples=["colleague.yaml"]
    )
    text: str = Field(
        default="",
        description="The text itself, with places such as `{bootstrap}` and `{checkpoint}` to fill in.",
        examples=["batch: { max_offsets: 50, max_offsets: 500 }"],
    )
    time_based: bool = Field(default=True, description=_TIME_BASED)

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        """The file that it names is read where it has no text yet."""
        if not self.file or self.text:
            return self
        file = (info.context or {}).get(DIRECTORY, Path()) / self.file
        try:
            return self.model_copy(update={"text": file.read_text(encoding="utf-8")})
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            about = {"file": str(file), "why": why, "hint": "its path is relative to the scenario's file"}
            raise PydanticCustomError("file", "{file} could not be read: {why}", about) from error


def _expand_raw_config(value: object) -> object:
    """Text of several lines is the configuration itself, of one line the file's name."""
    if not isinstance(value, str):
        return value
    return {"text": value} if "\n" in value.strip() else {"file": value.strip()}


def _as_variable(value: object) -> object:
    return value if isinstance(value, Mapping | Variable) else {"value": value}


class LaunchSettings(BaseModel):
    """Of one program, or of an arm's main program."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    environment: dict[
        VariableName, Annotated[Variable, BeforeValidator(_as_variable, json_schema_input_type=Variable | str)]
    ] = Field(
        default={},
        description="Environment variables of the program. `TMPDIR` is where its temporary files go, Spark's and the "
        "spool files of large pages too.",
        examples=[{"LOG_LEVEL": "debug", "BATCH": {"value": "500", "time_based": False}}],
    )
    slots: PositiveInt | None = Field(
        default=None,
        description="Number of tasks that Spark runs at once. Default: one for each source partition and slow round, "
        "at least 4.",
        examples=[2],
    )
    executors: PositiveInt | None = Field(
        default=None,
        description="Number of Spark's executors, each a process of its own with its share of `slots`, rounded up. "
        "Default: none, and the driver's JVM runs the tasks.",
        examples=[2],
    )
    spark: dict[SparkKey, SparkValue] = Field(
        default={},
        description="Settings of Spark, by Spark's names. They win over the kit's.",
        examples=[{"spark.sql.shuffle.partitions": 8}],
    )
    arguments: tuple[str, ...] = Field(
        default=(),
        description="More arguments on the program's command line, at each start. An arm's take the place of shared "
        "ones.",
        examples=[["--memory-limit", "2GiB"]],
    )
    raw_config: Annotated[
        RawConfig | None, BeforeValidator(_expand_raw_config, json_schema_input_type=RawConfig | str | None)
    ] = Field(
        default=None,
        description="What the program gets as its configuration file, unchecked, in place of what the scenario "
        "declares: a file's name, or the text itself if it has several lines.",
        examples=["colleague.yaml"],
    )

    @property
    def scratch(self) -> Path | None:
        """Where its temporary files go; None leaves that to the kit."""
        return Path(self.environment[SCRATCH].value) if SCRATCH in self.environment else None

    @property
    def variables(self) -> dict[str, str]:
        """What the program gets in its environment, by name."""
        return {name: variable.value for name, variable in self.environment.items()}

    @property
    def slots_in_all(self) -> int | None:
        """What comes of `slots`: of several executors each has as many as any other."""
        if self.slots is None or self.executors is None:
            return self.slots
        return -(-self.slots // self.executors) * self.executors

    def changed_by(self, own: "LaunchSettings") -> "LaunchSettings":
        """With what is written in `own` on top."""
        return LaunchSettings(
            environment={**self.environment, **own.environment},
            slots=own.slots or self.slots,
            executors=own.executors or self.executors,
            spark={**self.spark, **own.spark},
            arguments=own.arguments or self.arguments,
            raw_config=own.raw_config or self.raw_config,
        )
