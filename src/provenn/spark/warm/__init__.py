"""A warm Spark: one Java with a Spark context that outlives commands, for the commands of its owner alone.

``provenn warm`` starts the *keeper*, a process that starts Spark as any command does. A command that needs Spark
connects to the socket of the keeper, and gets a gateway to this Java of its own: a port on loopback and a new secret.
From then on the command is the driver of its own sessions, exactly as of a Spark that it has started itself; so all
answers, plans, checks and measurements are the same, and so is the code that makes them. The connection to the keeper
stays open as long as the command lives. When it ends, however it ends, the keeper cancels the jobs, ends the
calculators and removes the gateway of the command.

Why not Spark Connect: its client takes five times the CPU time to import, its workers inherit the environment and the
imported modules of whoever came before, and cannot report how long calculators took.

==================  ===============================================================================
`folder`            where the socket and the log are, and that nobody else can write there
`surroundings`      what a command and the keeper must have in common
`messages`          the messages over the socket
`keeper`            the process that keeps Spark
`guests`            the commands that use the Spark of the keeper
`asking`            starting and stopping the keeper, and asking about it; without pyspark
`attaching`         a command's way to the Spark of the keeper
`worker_side`       what the processes that run calculators take over from their command
==================  ===============================================================================
"""

__all__: list[str] = []
