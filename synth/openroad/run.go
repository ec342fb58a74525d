// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"incforge/internal/tool"
)

// FlowHomeEnv names the environment variable with the folder flow of OpenROAD-flow-scripts.
const FlowHomeEnv = "FLOW_HOME"

// flowLimit bounds a run of the whole flow.
const flowLimit = 7 * 24 * time.Hour

// installed is where OpenROAD-flow-scripts puts its OpenROAD, beside the folder flow.
const installed = "tools/install/OpenROAD/bin/openroad"

// logFile is what a flow says, in the folder.
const logFile = "flow.log"

// Run runs the flow on a folder that Write has made: OpenROAD-flow-scripts if FLOW_HOME names it or openroad on the PATH belongs to it,
// else LibreLane if it is on the PATH and knows the platform. What the flow says is kept in the folder, in the file returned; what it makes
// stands where the flow puts it. Without a flow the error is a *tool.NotFoundError.
func Run(ctx context.Context, dir, platform string) (log string, err error) {
	p, err := ByName(platform)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("openroad: %w", err)
	}
	c, err := flow(dir, p)
	if err != nil {
		return "", err
	}
	c.Timeout = flowLimit
	res, err := tool.Run(ctx, c)
	log = filepath.Join(dir, logFile)
	if werr := os.WriteFile(log, res.Output, 0o644); werr != nil {
		err = errors.Join(err, werr)
	}
	if err != nil {
		return log, fmt.Errorf("openroad: the flow: %w", err)
	}
	return log, nil
}

// flow is the command that runs the flow that is there.
func flow(dir string, p Platform) (tool.Command, error) {
	home := os.Getenv(FlowHomeEnv)
	openroad, oerr := tool.Find("openroad")
	if home == "" && oerr == nil {
		if real, err := filepath.EvalSymlinks(openroad); err == nil {
			if root, ok := strings.CutSuffix(real, "/"+installed); ok {
				home = filepath.Join(root, "flow")
			}
		}
	}
	if home != "" {
		args := []string{"-C", home, "DESIGN_CONFIG=" + filepath.Join(dir, "config.mk"), "WORK_HOME=" + dir}
		own := filepath.Join(home, "..", installed)
		if _, err := os.Stat(own); err != nil && oerr == nil { // the flow has no programs of its own
			args = append(args, "OPENROAD_EXE="+openroad)
			if yosys, err := tool.Find("yosys"); err == nil {
				args = append(args, "YOSYS_EXE="+yosys)
			}
		}
		return tool.Command{Name: "make", Args: args, Dir: dir}, nil
	}
	if p.pdk != "" {
		if _, err := tool.Find("librelane"); err == nil {
			return tool.Command{Name: "librelane", Args: []string{"--pdk", p.pdk, "--to", "OpenROAD.STAPostPNR", "config.json"}, Dir: dir}, nil
		}
	}
	return tool.Command{}, &tool.NotFoundError{Name: "OpenROAD's flow (" + FlowHomeEnv + " is not set, openroad and librelane are not on the PATH)",
		Hint: "git clone --recursive https://github.com/The-OpenROAD-Project/OpenROAD-flow-scripts"}
}
