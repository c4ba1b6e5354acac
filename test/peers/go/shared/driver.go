// Package main is one side of the conversations of test/peers on the Go SDK: `peer client URL BINDING` or `peer server PORT`.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

// token is the credential that a client gives, or that a server demands. Empty: none.
var token = os.Getenv("PEER_TOKEN")

// say is a message of a conversation (test/peers/talk.ts, Say), with the command that carries it.
type say struct {
	Op        string         `json:"op"`
	Text      string         `json:"text"`
	ContextID string         `json:"contextId"`
	TaskID    string         `json:"taskId"`
	URL       string         `json:"url"`
	File      *file          `json:"file"`
	Data      map[string]any `json:"data"`
}

type file struct {
	Name      string `json:"name,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Base64    string `json:"base64,omitempty"`
}

// reply is an answer or one event of a stream (test/peers/talk.ts, Reply).
type reply struct {
	TaskID    string   `json:"taskId,omitempty"`
	ContextID string   `json:"contextId,omitempty"`
	State     string   `json:"state,omitempty"`
	Texts     []string `json:"texts"`
	Files     []file   `json:"files"`
	Data      []any    `json:"data"`
	Note      string   `json:"note,omitempty"`
}

// talker is the SDK's client, made alike for its generations.
type talker interface {
	send(say) (reply, error)
	// stream calls each for every event, until it returns false.
	stream(message say, each func(reply) bool) error
	get(id string) (reply, error)
	cancel(id string) (reply, error)
	// subscribe calls each for every event of a task, until it returns false.
	subscribe(id string, each func(reply) bool) error
	// push asks for notifications about a task at an address.
	push(id, url string) error
	list(context string) ([]string, error)
	code(error) int
}

// drive reads one JSON command a line from standard input and writes one JSON result a line.
func drive(client talker) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var command say
		if err := json.Unmarshal(lines.Bytes(), &command); err != nil {
			panic(err)
		}
		result, err := run(client, command)
		if err != nil {
			out.Encode(map[string]any{"error": map[string]any{"message": err.Error(), "code": client.code(err)}})
		} else {
			out.Encode(map[string]any{"result": result})
		}
	}
}

func run(client talker, command say) (any, error) {
	switch command.Op {
	case "send":
		return client.send(command)
	case "stream":
		seen := []reply{}
		err := client.stream(command, func(event reply) bool {
			seen = append(seen, event)
			return true
		})
		return seen, err
	case "begin":
		var first reply
		err := client.stream(command, func(event reply) bool {
			first = event
			return event.TaskID == ""
		})
		return first, err
	case "subscribe":
		var first reply
		err := client.subscribe(command.TaskID, func(event reply) bool {
			first = event
			return len(event.Texts) == 0
		})
		return first, err
	case "push":
		return nil, client.push(command.TaskID, command.URL)
	case "get":
		return client.get(command.TaskID)
	case "cancel":
		return client.cancel(command.TaskID)
	default:
		return client.list(command.ContextID)
	}
}
