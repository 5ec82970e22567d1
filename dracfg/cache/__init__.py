"""What a run came to, kept below `.cache/dracfg`, so that a run of which nothing changed costs its reading.

Every file that the run read is compared by digest, and so is the whole tree below `out/`. A file is not
read for that where it has a seal: its stamps are those that it had when it was last read, and no change
since could have left them as they are. A time stamp alone is never believed. An entry that can't be read,
that another dracfg wrote or that does not fit what stands on disk is as good as none.
"""
