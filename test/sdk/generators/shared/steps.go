package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type report = map[string]any

// runSteps runs the steps in order and prints one line of JSON per step. A failed step does not end the program.
func runSteps(steps ...func() report) {
	for index, step := range steps {
		result, isOK := runStep(step)
		fields := string(must(json.Marshal(result)))
		fmt.Printf("{\"step\":%d,\"ok\":%t,%s\n", index+1, isOK, strings.TrimPrefix(fields, "{"))
	}
}

func runStep(step func() report) (result report, isOK bool) {
	defer func() {
		if failure := recover(); failure != nil {
			result, isOK = report{"error": fmt.Sprint(failure)}, false
		}
	}()
	return step(), true
}

func env(name string) string { return os.Getenv("CROSSDOCK_" + name) }

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
