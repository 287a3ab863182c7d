"""`barnabas`: what Barnabas has beside Kafka's own tools, as subcommands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from barnabas import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="barnabas")
def main() -> None:
    """A replicated commit log that is Apache Kafka to its clients.

    Kafka's own tools go by Kafka's names: kafka-topics, kafka-console-producer, kafka-server-start and so on.
    """


@main.command()
@click.option("--brokers", type=click.IntRange(1, 9), help="How many brokers a new cluster has.  [default: 1]")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of its settings and records.  [default: barnabas in the folder that XDG_STATE_HOME names, or in "
    "~/.local/state]",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65_500),
    help="Where the first broker listens; the others follow at every second port.  [default: as before, or 9092]",
)
@click.option("--fresh", is_flag=True, help="Delete the records of the cluster in that folder and make a new one.")
def up(brokers: int | None, data: Path | None, port: int | None, fresh: bool) -> None:
    """Run a cluster on this machine: as it was left, or a new one."""
    # The parts of a node are many modules; whoever only wants help does not wait for them.
    from barnabas.cli.up.command import run_up
    from barnabas.cli.up.data_folder import DataFolderError, default_folder

    try:
        folder = data or default_folder(os.environ)
        sys.exit(run_up(folder, broker_count=brokers, port=port, is_fresh=fresh, say=click.echo))
    except (DataFolderError, OSError) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
