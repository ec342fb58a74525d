# SPDX-License-Identifier: Apache-2.0
#
# Reads the abstracts of a folder with KLayout and prints what it found as JSON: lengths in nm.
import json
import os
import sys

import klayout.db as db

folder = sys.argv[1]
found = {}
for name in sorted(os.listdir(os.path.join(folder, "lef"))):
    options = db.LoadLayoutOptions()
    config = options.lefdef_config
    config.produce_lef_pins = True
    config.produce_lef_labels = True
    config.macro_resolution_mode = 1  # the cell is what the LEF file says
    layout = db.Layout()
    layout.read(os.path.join(folder, "lef", name), options)
    cell = layout.cell(name.removesuffix(".lef"))
    scale = round(layout.dbu * 1000)
    pins, boxes, blocked, labels = {}, {}, {}, {}
    for index in layout.layer_indexes():
        layer, _, purpose = layout.get_info(index).name.partition(".")
        region = db.Region(cell.shapes(index))
        if purpose == "PIN":
            boxes[layer] = region
        elif purpose == "OBS":
            blocked[layer] = region
        elif purpose == "LABEL":
            labels[layer] = [s.text for s in cell.shapes(index).each() if s.is_text()]
    for layer, texts in labels.items():
        for text in texts:
            at = db.Region(db.Box(text.x - 1, text.y - 1, text.x + 1, text.y + 1))
            hit = boxes[layer].interacting(at)
            pins.setdefault(text.string, []).append([layer] + [v * scale for v in (hit.bbox().left, hit.bbox().bottom, hit.bbox().right, hit.bbox().top)])
    clear = True
    for layer, region in boxes.items():
        raw = region.dup()
        raw.merged_semantics = False
        clear = clear and raw.count() == region.merged().count()  # no two touch
        if layer in blocked:
            clear = clear and (region & blocked[layer]).is_empty()
    box = cell.bbox()
    entry = {"width": box.width() * scale, "height": box.height() * scale, "origin": [box.left, box.bottom], "pins": pins, "clear": clear,
             "blocked": sorted(blocked)}
    gds = os.path.join(folder, "gds", name.removesuffix(".lef") + ".gds")
    if os.path.exists(gds):
        outline = db.Layout()
        outline.read(gds)
        top = outline.top_cell()
        info = outline.get_info(outline.layer_indexes()[0])
        entry["gds"] = [top.name, round(top.dbbox().width() * 1000), round(top.dbbox().height() * 1000), info.layer, info.datatype]
    found[name.removesuffix(".lef")] = entry
json.dump(found, sys.stdout)
