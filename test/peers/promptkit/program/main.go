// Package main is PromptKit's own client, server and mock for the conversations of test/peers: `peer client URL`, `peer server PORT` or
// `peer mock PORT`. It is built together with test/peers/go/shared/behaviour.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"github.com/AltairaLabs/PromptKit/runtime/a2a"
	"github.com/AltairaLabs/PromptKit/runtime/a2a/mock"
	"github.com/AltairaLabs/PromptKit/runtime/types"
	a2aserver "github.com/AltairaLabs/PromptKit/server/a2a"
)

func main() {
	switch os.Args[1] {
	case "client":
		drive(os.Args[2])
	case "server":
		log.Fatal(serve(os.Args[2]))
	default:
		log.Fatal(serveMock(os.Args[2]))
	}
}

func card(name string) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:               name,
		Description:        "The test agent of test/peers on PromptKit.",
		Version:            "1",
		Capabilities:       a2a.AgentCapabilities{Streaming: name == "peer-test"},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "talk", Name: "Talk", Description: "Talks."}},
	}
}

func listen(port string, handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return http.Serve(listener, handler)
}

func serve(port string) error {
	open := func(contextID string) (a2aserver.Conversation, error) { return &conversation{contextID: contextID}, nil }
	return listen(port, a2aserver.NewServer(open, a2aserver.WithCard(card("peer-test"))).Handler())
}

// serveMock puts PromptKit's mock, which chooses its own port, on ours.
func serveMock(port string) error {
	said := func(text string) mock.Response { return mock.Response{Parts: []a2a.Part{{Text: &text}}} }
	isHello := func(message a2a.Message) bool {
		return len(message.Parts) > 0 && message.Parts[0].Text != nil && *message.Parts[0].Text == "hello there"
	}
	server := mock.NewA2AServer(card("mock"), mock.WithInputMatcher("", isHello, said("echo: hello there")), mock.WithSkillError("", "it broke"))
	address, err := server.Start()
	if err != nil {
		return err
	}
	target, err := url.Parse(address)
	if err != nil {
		return err
	}
	return listen(port, httputil.NewSingleHostReverseProxy(target))
}

// conversation is one context of the test agent. A question is a client tool that waits.
type conversation struct {
	contextID string
	isAsked   bool
}

func (c *conversation) Close() error { return nil }

func (c *conversation) Send(ctx context.Context, message any) (a2aserver.SendResult, error) {
	made := &collected{}
	c.answer(ctx, message, made)
	return made, made.err
}

func (c *conversation) Stream(ctx context.Context, message any) <-chan a2aserver.StreamEvent {
	events := make(chan a2aserver.StreamEvent)
	go func() {
		defer close(events)
		c.answer(ctx, message, &streamed{ctx: ctx, events: events})
	}()
	return events
}

func (c *conversation) answer(ctx context.Context, message any, out output) {
	text := textOf(message)
	if c.isAsked {
		c.isAsked = false
		out.text("You chose "+text+".", true)
		out.complete()
		return
	}
	c.isAsked = text == "question"
	behave(ctx, text, c.contextID, c.contextID+text, out)
}

func textOf(message any) string {
	switch found := message.(type) {
	case *types.Message:
		return found.GetContent()
	case types.Message:
		return found.GetContent()
	case string:
		return found
	}
	return ""
}

// collected is the answer to a send.
type collected struct {
	said    string
	pending bool
	err     error
}

func (c *collected) text(chunk string, _ bool) bool { c.said += chunk; return true }
func (c *collected) ask(question string) bool       { c.pending = true; return true }
func (c *collected) fail(reason string) bool        { c.err = errors.New(reason); return true }
func (c *collected) echo() bool                     { return true }
func (c *collected) complete() bool                 { return true }

func (c *collected) HasPendingTools() bool       { return c.pending }
func (c *collected) HasPendingClientTools() bool { return c.pending }
func (c *collected) PendingClientTools() []a2aserver.PendingClientToolInfo {
	if !c.pending {
		return nil
	}
	return []a2aserver.PendingClientToolInfo{pendingTool()}
}
func (c *collected) Parts() []types.ContentPart { return nil }
func (c *collected) Text() string               { return c.said }

func pendingTool() a2aserver.PendingClientToolInfo {
	return a2aserver.PendingClientToolInfo{CallID: "call-1", ToolName: "choose", ConsentMsg: "Which color?"}
}

// streamed is the answer to a stream.
type streamed struct {
	ctx    context.Context
	events chan<- a2aserver.StreamEvent
}

func (s *streamed) emit(event a2aserver.StreamEvent) bool {
	select {
	case s.events <- event:
		return true
	case <-s.ctx.Done():
		return false
	}
}

func (s *streamed) text(chunk string, _ bool) bool {
	return s.emit(a2aserver.StreamEvent{Kind: a2aserver.EventText, Text: chunk})
}
func (s *streamed) ask(string) bool {
	tool := pendingTool()
	return s.emit(a2aserver.StreamEvent{Kind: a2aserver.EventClientTool, ClientTool: &tool})
}
func (s *streamed) fail(reason string) bool {
	return s.emit(a2aserver.StreamEvent{Error: errors.New(reason)})
}
func (s *streamed) echo() bool     { return true }
func (s *streamed) complete() bool { return s.emit(a2aserver.StreamEvent{Kind: a2aserver.EventDone}) }

