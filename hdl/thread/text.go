// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"incforge/hdl/graph"
)

// text is where things stand in the Verilog of a module.
type text struct {
	// headAt is behind the parenthesis that opens the list of ports, bodyAt behind the semicolon that ends it.
	headAt, bodyAt int
	instances      []instance
}

// instance is one of a module in another.
type instance struct {
	module string
	// path is its name behind those of the generate blocks around it.
	path string
	// turns are the variables of the generate loops around it, which count from 0.
	turns []string
	// moduleAt is where the module's name stands; paramsAt and portsAt are behind the parentheses that open the lists.
	moduleAt, paramsAt, portsAt int
}

// built is how many times it is built, by the memories that are it or in it.
func (i instance) built(memories []graph.Memory) int {
	places := map[string]bool{}
	depth := strings.Count(i.path, ".") + 1
	for _, m := range memories {
		if parts := strings.Split(m.Path, "."); len(parts) >= depth {
			if place := strings.Join(parts[:depth], "."); plain(place) == i.path {
				places[place] = true
			}
		}
	}
	return len(places)
}

var index = regexp.MustCompile(`\[\d+\]`)

// plain is a path without the numbers of the turns of a generate loop.
func plain(path string) string { return index.ReplaceAllString(path, "") }

// token is a word or a sign of Verilog.
type token struct {
	text string
	at   int
}

var tokens = regexp.MustCompile("(?s)//[^\n]*|/\\*.*?\\*/|\"[^\"]*\"|`?[A-Za-z_$][A-Za-z0-9_$]*|[^\\sA-Za-z_]")

// scan cuts Verilog into tokens, without comments.
func scan(source []byte) (out []token) {
	for _, at := range tokens.FindAllIndex(source, -1) {
		t := token{string(source[at[0]:at[1]]), at[0]}
		if !strings.HasPrefix(t.text, "//") && !strings.HasPrefix(t.text, "/*") {
			out = append(out, t)
		}
	}
	return out
}

// closing is the token that closes the parenthesis at token i, -1 if none does.
func closing(all []token, i int) int {
	depth := 0
	for ; i < len(all); i++ {
		switch all[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

var word = regexp.MustCompile(`^[A-Za-z_]`)

// parse finds the lists of ports and parameters in a module's text: its own, and those of the instances in it.
func parse(source []byte) (*text, error) {
	all := scan(source)
	at := slices.IndexFunc(all, func(t token) bool { return t.text == "module" })
	if at < 0 || at+2 >= len(all) {
		return nil, errors.New("there is no module in the text")
	}
	open := at + 2
	if all[open].text == "#" {
		open = closing(all, open+1) + 1
	}
	end := closing(all, open)
	if open <= 0 || end < 0 || end+1 >= len(all) || all[end+1].text != ";" {
		return nil, errors.New("the module's list of ports has no end")
	}
	t := &text{headAt: all[open].at + 1, bodyAt: all[end+1].at + 1}
	var blocks []block
	for i := end + 2; i < len(all); i++ {
		switch all[i].text {
		case "begin":
			b := block{turn: turn(all, i)}
			if i+2 < len(all) && all[i+1].text == ":" {
				b.label = all[i+2].text
			}
			blocks = append(blocks, b)
		case "end":
			if len(blocks) == 0 {
				return nil, errors.New("an end without its begin")
			}
			blocks = blocks[:len(blocks)-1]
		default:
			if inst, ok := instanceAt(all, i, blocks); ok {
				t.instances = append(t.instances, inst)
			}
		}
	}
	return t, nil
}

// block is what begins and ends.
type block struct {
	label string
	// turn is the variable of the loop that it is the body of, "" if it is of none.
	turn string
}

// turn is the variable of the loop of which the body begins with token i, "" if it is none that counts from 0.
func turn(all []token, i int) string {
	depth := 0
	for k := i - 1; k > 0; k-- {
		switch all[k].text {
		case ")":
			depth++
		case "(":
			depth--
		}
		if depth > 0 {
			continue
		}
		if all[k].text == "(" && all[k-1].text == "for" && all[k+2].text == "=" && all[k+3].text == "0" {
			return all[k+1].text
		}
		break
	}
	return ""
}

// instanceAt is the instance that begins with token i: MODULE #(parameters) NAME (ports. Those without parameters are no memories and hold none.
func instanceAt(all []token, i int, blocks []block) (instance, bool) {
	if !word.MatchString(all[i].text) || i+2 >= len(all) || all[i+1].text != "#" || all[i+2].text != "(" {
		return instance{}, false
	}
	end := closing(all, i+2)
	if end < 0 || end+2 >= len(all) || !word.MatchString(all[end+1].text) || all[end+2].text != "(" {
		return instance{}, false
	}
	inst := instance{module: all[i].text, moduleAt: all[i].at, paramsAt: all[i+2].at + 1, portsAt: all[end+2].at + 1}
	for _, b := range blocks {
		if b.label != "" {
			inst.path += b.label + "."
		}
		if b.turn != "" {
			inst.turns = append(inst.turns, b.turn)
		}
	}
	inst.path += all[end+1].text
	return inst, true
}
