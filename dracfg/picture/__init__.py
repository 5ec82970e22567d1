"""Pictures of capacity, devices, tenants, proofs and rollouts as inline SVG.

Pure functions from facts to text: the same facts give the same bytes. Knows pages only as the place of
unique ids; `style` is the sheet that a page has once.
"""

from dracfg.picture.arrangement import arrangement
from dracfg.picture.heatmap import heatmap
from dracfg.picture.joint import joint_arrangement
from dracfg.picture.matrix import Column, columns_of, matrix
from dracfg.picture.stageline import stageline
from dracfg.picture.style import style
from dracfg.picture.waterfall import waterfall

__all__ = [
    "Column",
    "arrangement",
    "columns_of",
    "heatmap",
    "joint_arrangement",
    "matrix",
    "stageline",
    "style",
    "waterfall",
]
