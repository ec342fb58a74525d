// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"encoding/json"
	"fmt"
)

// laneMacro is a macro as LibreLane's variable MACROS describes it.
type laneMacro struct {
	GDS       []string             `json:"gds"`
	LEF       []string             `json:"lef"`
	VH        []string             `json:"vh"`
	LIB       map[string][]string  `json:"lib"`
	Instances map[string]lanePlace `json:"instances"`
}

type lanePlace struct {
	Location    [2]json.Number `json:"location"`
	Orientation string         `json:"orientation"`
}

// laneMargin in nm is from the corner of the die to the shelves: LibreLane places by the die, and the core begins within this.
const laneMargin = 50000

// lanePDN is used where LibreLane's power grid does not reach the macros' straps.
const lanePDN = `# SPDX-License-Identifier: Apache-2.0
#
# LibreLane's power grid, tied to the straps of the memory macros.
source $::env(SCRIPTS_DIR)/openroad/common/pdn_cfg.tcl
add_pdn_connect -grid macro -layers "Metal4 $::env(PDN_VERTICAL_LAYER)"
`

// libreLane returns a configuration for LibreLane's flow Classic. It has no macro placer, so every macro has a place.
func (w *writer) libreLane() ([]byte, error) {
	dir := func(path string) string { return "dir::" + path }
	c := map[string]any{
		"meta":         map[string]any{"version": 2, "flow": "Classic"},
		"DESIGN_NAME":  w.top.Module,
		"CLOCK_PORT":   w.d.Clock.Port,
		"CLOCK_PERIOD": json.Number(fmt.Sprintf("%.3f", 1e3/w.o.ClockMHz)),

		"PNR_SDC_FILE":     dir("constraint.sdc"),
		"SIGNOFF_SDC_FILE": dir("constraint.sdc"),

		"FP_SIZING":       "relative",
		"FP_ASPECT_RATIO": 1,
		"FP_CORE_UTIL":    w.floor.utilization(2 * laneMargin),

		"VDD_NETS": []string{supplyPin},
		"GND_NETS": []string{groundPin},
	}
	var verilog []string
	for _, f := range w.verilog {
		if f != boxesFile { // the macros bring their own
			verilog = append(verilog, dir(f))
		}
	}
	c["VERILOG_FILES"] = verilog
	if len(w.macros) > 0 {
		macros := map[string]laneMacro{}
		for _, m := range w.macros {
			macros[m.Name()] = laneMacro{GDS: []string{dir(inFolder("gds", m.Name()))}, LEF: []string{dir(inFolder("lef", m.Name()))},
				VH: []string{dir(inFolder("vh", m.Name()))}, LIB: map[string][]string{"*": {dir(inFolder("lib", m.Name()))}}, Instances: map[string]lanePlace{}}
		}
		for _, s := range w.floor.spots {
			macros[s.macro.Name()].Instances[s.path] = lanePlace{[2]json.Number{json.Number(um(s.x + laneMargin)), json.Number(um(s.y + laneMargin))}, "N"}
		}
		c["MACROS"] = macros
		c["FP_MACRO_HORIZONTAL_HALO"] = w.p.halo / 1000
		c["FP_MACRO_VERTICAL_HALO"] = w.p.halo / 1000
		c["PDN_MACRO_CONNECTIONS"] = []string{fmt.Sprintf(".*u_macro %[1]s %[2]s %[1]s %[2]s", supplyPin, groundPin)}
		if w.p.tie {
			c["PDN_CFG"] = dir("pdn_cfg.tcl")
		}
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("openroad: config.json: %w", err)
	}
	return append(text, '\n'), nil
}
