//go:build tools

// Package compose pins what `go build` makes the Compose plugin from; go.mod and go.sum are the lock.
package compose

import _ "github.com/docker/compose/v2/cmd"
