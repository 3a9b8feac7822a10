"""The gate: all foreign data pass it on the way into provenn, and a test enumerates the entrances.

An archive, a file or a request may come from any author. The gate asks three questions about its content, each in a
separate module. The answers come from the owner's own configuration, and no archive can change them:

==============  ======================================================================
`permits`       what the owner allows by name: modules, captured source, formats, options, expansion
`formats`       the formats that Spark may read, and their options
`expansion`     how large data may become when unpacked, or by the claim of a header
`entrances`     the list of the entrances, each with its checks
`local_paths`   which folder a path means that begins with ``~``
==============  ======================================================================
"""

__all__: list[str] = []
