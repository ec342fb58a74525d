// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	sdcUnits = regexp.MustCompile(`(?m)^set_units -time ns$`)
	sdcNote  = regexp.MustCompile(`Times are in nanoseconds\.`)
	sdcTime  = regexp.MustCompile(`(?m)^(create_clock .*-period |set_clock_uncertainty |set_input_delay |set_output_delay )([0-9.]+)`)
	sdcClock = regexp.MustCompile(`(?m)^create_clock .*-period ([0-9.]+)`)
)

// constraints returns the constraints that the generator ships, in the platform's unit of time and at another clock: all times scale
// with its period. The period stays a number in the line of create_clock, where the flows look for it.
func constraints(shipped string, p Platform, clockMHz float64) (string, error) {
	clocks := sdcClock.FindAllStringSubmatch(shipped, -1)
	if len(clocks) != 1 || len(sdcUnits.FindAllString(shipped, -1)) != 1 {
		return "", errors.New("openroad: constraints must have one clock, and times in ns")
	}
	period, err := strconv.ParseFloat(clocks[0][1], 64)
	if err != nil || period <= 0 {
		return "", fmt.Errorf("openroad: constraints with a period of %s", clocks[0][1])
	}
	scale := 1e6 / clockMHz / period / p.psPerUnit
	text := sdcTime.ReplaceAllStringFunc(shipped, func(found string) string {
		m := sdcTime.FindStringSubmatch(found)
		v, perr := strconv.ParseFloat(m[2], 64)
		if perr != nil {
			err = perr
			return found
		}
		return m[1] + strconv.FormatFloat(v*scale, 'f', 3, 64)
	})
	if err != nil {
		return "", fmt.Errorf("openroad: constraints: %w", err)
	}
	text = sdcUnits.ReplaceAllString(text, "set_units -time "+p.unit)
	unit := map[string]string{"ns": "nanoseconds", "ps": "picoseconds"}[p.unit]
	return strings.TrimRight(sdcNote.ReplaceAllString(text, "Times are in "+unit+", the unit of "+p.Name+"."), "\n") + "\n", nil
}
