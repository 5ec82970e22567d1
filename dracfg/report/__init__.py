"""One report for people and programs: what exists, who was promised what, what is proven, moving, wrong.

Gathers what the other packages have found; computes no capacity, proves nothing and judges nothing
itself. Every form, the page included, is made from the one document.
"""
