package modelcheck

import "incforge/inc"

func setMode(p *inc.Params, c Config) error { return nil }
func setPipe(g *inc.Group, c Config)        {}
func (e *engine) setUp()                    {}
func (e *engine) settle(s *stepped) error   { return nil }
func (e *engine) invariants() error         { return nil }

// action of an engine, abstract
type action struct {
	kind, endpoint uint8
	wait           bool
}

func (a action) permute(endpoints []int) action               { return a }
func (a action) same(b action) bool                           { return a == b }
func (e *engine) actions(state []byte) ([]action, error)      { return nil, nil }
func (e *engine) act(state []byte, a action) (stepped, error) { panic("") }
func (e *engine) idle() bool                                  { return e.inc.Unfinished(0) == 0 }
func badRules() map[string]int                                { return map[string]int{} }
