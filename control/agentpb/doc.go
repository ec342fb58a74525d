// SPDX-License-Identifier: Apache-2.0

// Package agentpb is agent.proto in Go: messages, and the service's two ends. `make proto` makes it anew.
package agentpb
