"""What a run came to, kept below `.cache/dracfg`, so that a run of which nothing changed costs its reading.

Every file that the run read is read again and compared by digest, and so is the whole tree below
`out/`; nothing is believed on account of a time stamp. An entry that can't be read, that another
dracfg wrote or that does not fit what stands on disk is as good as none.
"""
