// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"fmt"
	"slices"
	"strings"

	"incforge/synth/liberty"
)

// layer is a routing layer; lengths are in nm.
type layer struct {
	name         string
	pitch, width int
}

// straps are the power pins of a macro: bars of one layer, supply and ground in turn.
type straps struct {
	layer       string
	horizontal  bool
	width, step int // nm; from one bar to the next of the other net
}

// Platform is a platform of OpenROAD-flow-scripts, with what its technology files say and what memories are made of there. Lengths are
// in nm, areas in um2.
type Platform struct {
	Name string
	// unit is the library's unit of time as SDC calls it; psPerUnit is its length.
	unit      string
	psPerUnit float64
	// siteX and rowY are what outlines are multiples of.
	siteX, rowY int
	below       []string // layers that a macro blocks whole
	pins        layer    // of the signal pins, horizontal
	pinLength   int      // so that a pin has the layer's least area
	space       int      // from a pin or a strap to what is blocked
	power       straps
	halo        int
	outline     [2]int // layer and data type of a cell's outline in GDS

	// gate is the area of the smallest NAND2, inverter the input of the smallest inverter in fF, both from the platform's library.
	gate, inverter float64
	cell           liberty.BitCell
	// fo4 in ps is what access and cycle times are counted in.
	fo4     float64
	voltage float64
	// basis says what the macros' figures rest on.
	basis string

	// libs is the variable that also has to name the macros' Liberty files, if the platform does not read ADDITIONAL_LIBS.
	libs string
	// pdn is a power grid of its own, for a platform whose grid does not reach macros.
	pdn bool
	// pdk is LibreLane's name of the process, "" if it has none.
	pdk string
	// tie connects the straps in LibreLane, where its grid does not reach them.
	tie bool
}

// Platforms lists the platforms that folders can be written for.
func Platforms() []Platform {
	return []Platform{
		{
			Name: "sky130hd", unit: "ns", psPerUnit: 1000, siteX: 460, rowY: 2720,
			below: []string{"met1", "met2"}, pins: layer{"met3", 680, 300}, pinLength: 800, space: 400,
			power: straps{layer: "met4", width: 1600, step: 11040}, halo: 20000, outline: [2]int{235, 4},
			gate: 3.7536, inverter: 3.08, cell: cell130(), fo4: fo4At130, voltage: 1.8,
			basis: "cell and speed of IHP's 130 nm compiler", pdk: "sky130A",
		},
		{
			Name: "asap7", unit: "ps", psPerUnit: 1, siteX: 54, rowY: 2160,
			below: []string{"M1", "M2", "M3"}, pins: layer{"M4", 48, 24}, pinLength: 96, space: 96,
			power: straps{layer: "M4", horizontal: true, width: 120, step: 768}, halo: 2000,
			gate: 0.0583, inverter: 0.62, cell: liberty.BitCell{Name: "N7 high density", Area: 0.027}, fo4: 19.5, voltage: 0.7,
			basis: "a 0.027 um2 cell (TSMC's 7 nm, ISSCC 2017), FO4 of the library",
		},
		{
			Name: "nangate45", unit: "ns", psPerUnit: 1000, siteX: 190, rowY: 1400,
			below: []string{"metal1", "metal2"}, pins: layer{"metal3", 140, 70}, pinLength: 140, space: 140,
			power: straps{layer: "metal4", width: 560, step: 5600}, halo: 6000,
			gate: 0.798, inverter: 1.70, cell: liberty.BitCell{Name: "45 nm", Area: 0.268}, fo4: 21.4, voltage: 1.1,
			basis: "a 0.268 um2 cell (28 nm's by the area of NAND2; published at 45 nm: 0.24 to 0.35), FO4 of the library",
		},
		{
			Name: "ihp-sg13g2", unit: "ns", psPerUnit: 1000, siteX: 480, rowY: 3780,
			below: []string{"Metal1", "Metal2"}, pins: layer{"Metal3", 420, 200}, pinLength: 720, space: 420,
			power: straps{layer: "Metal4", width: 2200, step: 11520}, halo: 20000, outline: [2]int{189, 4},
			gate: 7.2576, inverter: 2.87, cell: cell130(), fo4: fo4At130, voltage: 1.2,
			basis: "cell and speed of IHP's 130 nm compiler", libs: "ADDITIONAL_TYP_LIBS", pdn: true, pdk: "ihp-sg13g2", tie: true,
		},
	}
}

// cell130 makes the geometry law meet the areas of five macros of IHP's 130 nm compiler within -9 and +6 % (TestAgainstACompiler). It
// is also what the 28 nm cell comes to when scaled by the area of NAND2.
func cell130() liberty.BitCell { return liberty.BitCell{Name: "130 nm", Area: 2.44} }

// fo4At130 makes the law meet the access times of those macros within 6 %. It is twice the FO4 of that library without wires: a
// compiler's macros at 130 nm are slower for their logic than those at 28 nm.
const fo4At130 = 140

// corner is that of the macros' libraries.
func (p Platform) corner() liberty.Corner {
	typical, up := liberty.Typical(), p.gate/liberty.NAND2Area
	return liberty.Corner{Name: "typical", Process: 1, Voltage: p.voltage, Temperature: 25, FO4: p.fo4, Inverter: p.inverter,
		Leakage: typical.Leakage * up, Energy: typical.Energy * up}
}

// Names lists the platforms by name.
func Names() []string {
	var names []string
	for _, p := range Platforms() {
		names = append(names, p.Name)
	}
	return names
}

// ByName finds a platform.
func ByName(name string) (Platform, error) {
	all := Platforms()
	i := slices.IndexFunc(all, func(p Platform) bool { return p.Name == name })
	if i < 0 {
		return Platform{}, fmt.Errorf("openroad: unknown platform %q (%s)", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
}
