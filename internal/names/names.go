// SPDX-License-Identifier: Apache-2.0

// Package names gives the values of an enumeration their names in messages, files and flags. The names are said once:
//
//	func collectives() names.List[Collective] { return names.Of[Collective]("collective", "allreduce", "reduce") }
//
//	func (c Collective) String() string                   { return collectives().Name(c) }
//	func (c Collective) MarshalText() ([]byte, error)     { return []byte(c.String()), nil }
//	func (c *Collective) UnmarshalText(text []byte) error { return collectives().Unmarshal(text, c) }
//	func ParseCollective(name string) (Collective, error) { return collectives().Parse(name) }
//
// Where values do not count up from 0 they are the keys of a slice:
//
//	names.Of[Opcode]("opcode", []string{Acknowledge: "ACK", CNP: "CNP"}...)
package names

import (
	"fmt"
	"slices"
)

// List is an enumeration's names. Make it with Of.
type List[T ~int | ~uint8] struct {
	what  string
	names []string
}

// Of lists the names by value, that of 0 first; values with an empty name are left out. What says in messages what has these names.
func Of[T ~int | ~uint8](what string, names ...string) List[T] { return List[T]{what, names} }

// Name is the value's name; of a value without one it says which it is: "collective 9".
func (l List[T]) Name(v T) string {
	if i := int(v); i >= 0 && i < len(l.names) && l.names[i] != "" {
		return l.names[i]
	}
	return fmt.Sprintf("%s %d", l.what, int(v))
}

// Values are all values that have a name, in order.
func (l List[T]) Values() (all []T) {
	for i, name := range l.names {
		if name != "" {
			all = append(all, T(i))
		}
	}
	return all
}

// Parse is the inverse of Name. The error lists the names.
func (l List[T]) Parse(name string) (T, error) {
	if i := slices.Index(l.names, name); i >= 0 && name != "" {
		return T(i), nil
	}
	known := slices.DeleteFunc(slices.Clone(l.names), func(s string) bool { return s == "" })
	return 0, fmt.Errorf("%s %q: must be one of %v", l.what, name, known)
}

// Unmarshal sets v to the value of that name, for encoding.TextUnmarshaler.
func (l List[T]) Unmarshal(name []byte, v *T) (err error) {
	*v, err = l.Parse(string(name))
	return err
}
