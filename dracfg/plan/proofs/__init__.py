"""Whether promises of devices hold: proofs of packing and of never being blocked.

Pure arithmetic over numbers of devices and amounts. Knows no document, no class, no tenant.
"""
