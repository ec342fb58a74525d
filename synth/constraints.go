// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"incforge/contract"
)

// constraints are those that a design is timed with.
type constraints struct {
	tcl    string
	period float64 // ps
	// Shares of the period that the constraints take from every path, from those that begin at an input, and from those that end at
	// an output.
	uncertainty, input, output float64
}

// share is what the constraints take of the period from the paths of a group.
func (c *constraints) share(group string) float64 {
	s := c.uncertainty
	if group == groupInputs || group == groupThrough {
		s += c.input
	}
	if group == groupOutputs || group == groupThrough {
		s += c.output
	}
	return s
}

var sdcTime = regexp.MustCompile(`(?m)^(create_clock .*-period |set_clock_uncertainty |set_input_delay |set_output_delay )([0-9.]+)`)

// shippedSDC returns the constraints that the design's folder holds for a top, "" if it holds none.
func (f *flow) shippedSDC(key string) (string, error) {
	top, err := f.d.Top(key)
	if err != nil {
		return "", nil // a design without that top
	}
	names := []string{top.Module + ".sdc"}
	if key == contract.TopSwitch {
		names = append(names, f.d.Name+".sdc")
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(f.d.Dir, name))
		if err == nil {
			return string(text), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("synth: %w", err)
		}
	}
	return "", nil
}

// constraints returns those of the top that the design ships, at the clock asked for: all times in them scale with the period. A
// module of the design gets the core's clock and, as its surroundings are not the world outside, the whole period at its ports; so
// does a top without constraints.
func (f *flow) constraints() (*constraints, error) {
	key := contract.TopCore
	for k, t := range f.d.Tops {
		if t.Module == f.top {
			key = k
		}
	}
	text, err := f.shippedSDC(key)
	if err != nil {
		return nil, err
	}
	c := &constraints{period: 1e6 / f.o.ClockMHz}
	asked := c.period / 1e3
	var shipped float64
	scaled := sdcTime.ReplaceAllStringFunc(text, func(found string) string {
		m := sdcTime.FindStringSubmatch(found)
		v, perr := strconv.ParseFloat(m[2], 64)
		if perr != nil {
			err = perr
			return found
		}
		if strings.HasPrefix(m[1], "create_clock") {
			if shipped != 0 {
				err = errors.New("synth: constraints with two clocks")
			}
			shipped = v
		}
		if shipped <= 0 {
			err = errors.New("synth: constraints that name times before their clock")
			return found
		}
		switch share := v / shipped; strings.Fields(m[1])[0] {
		case "set_clock_uncertainty":
			c.uncertainty = max(c.uncertainty, share)
		case "set_input_delay":
			c.input = max(c.input, share)
		case "set_output_delay":
			c.output = max(c.output, share)
		}
		return fmt.Sprintf("%s%.6f", m[1], v/shipped*asked)
	})
	if err != nil {
		return nil, err
	}
	inside := f.choice.Inside != ""
	if text == "" || inside {
		c.input, c.output = 0, 0
		scaled = f.plainConstraints(asked, c.uncertainty)
	}
	lines := []string{
		"set_cmd_units -time ns",
		scaled,
		// The reset is a tree that layout builds; unbuffered it would be the worst path of any design.
		fmt.Sprintf("if {[llength [get_ports -quiet %[1]s]] > 0} { set_false_path -from [get_ports %[1]s] }", f.d.Clock.Reset),
		fmt.Sprintf("set_cmd_units -time %s", f.timeUnit()),
	}
	c.tcl = strings.Join(lines, "\n") + "\n"
	return c, nil
}

// plainConstraints are those of a module inside a design.
func (f *flow) plainConstraints(period, uncertainty float64) string {
	clock := fmt.Sprintf("create_clock -name clk -period %.6f", period)
	if f.clocked { // otherwise it is a clock that only inputs and outputs know
		clock += fmt.Sprintf(" [get_ports %s]", f.d.Clock.Port)
	}
	return strings.Join([]string{clock,
		fmt.Sprintf("set_clock_uncertainty %.6f [get_clocks clk]", period*uncertainty),
		// all_inputs -no_clocks does not exist in 2.0.17.
		fmt.Sprintf(`foreach p [all_inputs] { if {[get_property $p full_name] != "%s"} { set_input_delay 0 -clock clk $p } }`, f.d.Clock.Port),
		// Without an output delay no path to an output is reported at all.
		"set_output_delay 0 -clock clk [all_outputs]",
	}, "\n")
}

// timeUnit is the cells' library's unit of time as OpenSTA calls it.
func (f *flow) timeUnit() string {
	if f.t.timePS >= 1000 {
		return "ns"
	}
	return "ps"
}
