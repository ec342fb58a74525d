// SPDX-License-Identifier: Apache-2.0

package params

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema (draft 2020-12) of a parameter file, for editors. It has every rule about one key by itself;
// rules between keys (lanes and bus_bytes, buffer_bytes and the MTU, the adders and the clock), the length of a name and the words it may not be are left to Validate.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.Reflect(Params{})
	s.Title = "IncForge engine parameters"
	s.Required = nil
	for _, f := range fields() {
		prop, ok := s.Properties.Get(f.key)
		if !ok {
			return nil, fmt.Errorf("describe the parameters: key %s is not in the struct", f.key)
		}
		prop.Description = f.doc
		if f.req {
			s.Required = append(s.Required, f.key)
		}
		if err := f.limit(prop); err != nil {
			return nil, err
		}
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print the schema: %w", err)
	}
	return append(b, '\n'), nil
}

// limit puts the field's limits and default into its schema.
func (f field) limit(s *jsonschema.Schema) error {
	switch f.kind {
	case kindInt:
		if f.pow2 {
			if f.lo == 0 {
				s.Enum = append(s.Enum, 0)
			}
			for v := max(f.lo, 1); v <= f.hi; v *= 2 {
				s.Enum = append(s.Enum, v)
			}
		} else {
			s.Minimum, s.Maximum = json.Number(strconv.Itoa(f.lo)), json.Number(strconv.Itoa(f.hi))
		}
		if f.def != "" {
			s.Default = json.Number(f.def)
		}
	case kindBool:
		s.Default = f.def == "true"
	case kindSwitch:
		s.Type, s.Enum, s.Default = "", []any{false, true, f.words[len(f.words)-1]}, f.def == "true"
	case kindString:
		s.Pattern = f.pattern
		s.Enum = anys(f.words)
		if f.def != "" {
			s.Default = f.def
		}
	case kindList:
		one := uint64(1)
		s.Items.Enum, s.Default = anys(f.words), entries(f.def)
		s.MinItems, s.UniqueItems = &one, true
	case kindNumbers:
		s.Items.Minimum, s.Items.Maximum, s.Default = json.Number(strconv.Itoa(f.lo)), json.Number(strconv.Itoa(f.hi)), []float64{}
	default:
		return fmt.Errorf("describe parameter %s: unknown kind %d", f.key, f.kind)
	}
	return nil
}

func anys(words []string) []any {
	var out []any
	for _, w := range words {
		out = append(out, w)
	}
	return out
}
