"""What is wrong with a catalog, beyond what one document alone can say.

A rule is a pure function from the linked catalog to findings; it reads no file and changes nothing.
Rules of one family stand in one module, each code in one function.
"""
