package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// output is what the test agent can say, in the types of one generation of the SDK. Each returns false when nobody reads any more.
type output interface {
	text(chunk string, isFirst bool) bool
	ask(question string) bool
	signIn(request string) bool
	fail(reason string) bool
	echo() bool
	complete() bool
}

var (
	mutex      sync.Mutex
	remembered = map[string]string{}
	asked      = map[string]bool{}
)

// behave does what the first word of a message says; test/peers/agent.ts answers to the same words.
func behave(ctx context.Context, text, contextID, taskID string, out output) bool {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	mutex.Lock()
	wasAsked, memory := asked[taskID], remembered[contextID]
	delete(asked, taskID)
	if word == "remember" {
		remembered[contextID] = rest
	}
	if (word == "question" || word == "sign-in") && !wasAsked {
		asked[taskID] = true
	}
	mutex.Unlock()
	switch {
	case wasAsked:
		out.text(fmt.Sprintf("You chose %s.", text), true)
	case word == "chunks":
		count, _ := strconv.Atoi(rest)
		for at := 1; at <= count; at++ {
			out.text(fmt.Sprintf("%d ", at), at == 1)
		}
	case word == "remember":
		out.text(fmt.Sprintf("I will remember %s.", rest), true)
	case word == "recall":
		out.text(memory, true)
	case word == "question":
		return out.ask("Which color?")
	case word == "sign-in":
		return out.signIn("Sign in first.")
	case word == "parts":
		out.echo()
	case word == "fail":
		return out.fail("it broke")
	case word == "slow":
		seconds, _ := strconv.Atoi(rest)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Duration(seconds) * time.Second):
		}
		out.text(fmt.Sprintf("waited %s s", rest), true)
	case word == "work":
		for at := 1; at <= 600; at++ {
			if !out.text(fmt.Sprintf("%d ", at), at == 1) {
				return false
			}
			select {
			case <-ctx.Done():
				return false
			case <-time.After(100 * time.Millisecond):
			}
		}
	default:
		out.text("echo: "+text, true)
	}
	return out.complete()
}
