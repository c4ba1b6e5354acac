package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
)

func main() {
	if os.Args[1] == "server" {
		log.Fatal(serve(os.Args[2]))
	}
	made, err := newClient(os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	drive(made)
}

type executor struct{}

func (executor) Execute(ctx context.Context, run *a2asrv.RequestContext, queue eventqueue.Queue) error {
	out := &writer{ctx: ctx, run: run, queue: queue}
	if run.StoredTask == nil {
		out.write(a2a.NewSubmittedTask(run, run.Message))
	}
	out.write(a2a.NewStatusUpdateEvent(run, a2a.TaskStateWorking, nil))
	text := ""
	for _, part := range run.Message.Parts {
		if found, isText := part.(a2a.TextPart); isText {
			text += found.Text
		}
	}
	behave(ctx, text, run.ContextID, string(run.TaskID), out)
	return out.err
}

func (executor) Cancel(ctx context.Context, run *a2asrv.RequestContext, queue eventqueue.Queue) error {
	event := a2a.NewStatusUpdateEvent(run, a2a.TaskStateCanceled, nil)
	event.Final = true
	return queue.Write(ctx, event)
}

type writer struct {
	ctx      context.Context
	run      *a2asrv.RequestContext
	queue    eventqueue.Queue
	artifact a2a.ArtifactID
	err      error
}

func (w *writer) write(event a2a.Event) bool {
	if w.err == nil {
		w.err = w.queue.Write(w.ctx, event)
	}
	return w.err == nil
}

func (w *writer) text(chunk string, isFirst bool) bool {
	if isFirst {
		event := a2a.NewArtifactEvent(w.run, a2a.TextPart{Text: chunk})
		w.artifact = event.Artifact.ID
		return w.write(event)
	}
	return w.write(a2a.NewArtifactUpdateEvent(w.run, w.artifact, a2a.TextPart{Text: chunk}))
}

func (w *writer) status(state a2a.TaskState, parts ...a2a.Part) bool {
	var message *a2a.Message
	if len(parts) > 0 {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, w.run, parts...)
	}
	event := a2a.NewStatusUpdateEvent(w.run, state, message)
	event.Final = true
	return w.write(event)
}

func (w *writer) ask(question string) bool {
	return w.status(a2a.TaskStateInputRequired, a2a.TextPart{Text: question})
}
func (w *writer) signIn(request string) bool {
	return w.status(a2a.TaskStateAuthRequired, a2a.TextPart{Text: request})
}
func (w *writer) fail(reason string) bool {
	return w.status(a2a.TaskStateFailed, a2a.TextPart{Text: reason})
}
func (w *writer) complete() bool { return w.status(a2a.TaskStateCompleted) }

func (w *writer) echo() bool {
	parts := []a2a.Part{}
	for _, part := range w.run.Message.Parts {
		if _, isText := part.(a2a.TextPart); !isText {
			parts = append(parts, part)
		}
	}
	return w.write(a2a.NewArtifactEvent(w.run, parts...))
}

// gate refuses calls without the token.
type gate struct {
	a2asrv.PassthroughCallInterceptor
}

func (gate) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, error) {
	if given, _ := call.RequestMeta().Get("authorization"); slices.Contains(given, "Bearer "+token) {
		return ctx, nil
	}
	return ctx, a2a.ErrUnauthenticated
}

// demands lets the server demand the token, if there is one, and says so in the card.
func demands(card *a2a.AgentCard) []a2asrv.RequestHandlerOption {
	if token == "" {
		return nil
	}
	card.SecuritySchemes = a2a.NamedSecuritySchemes{"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}}
	card.Security = []a2a.SecurityRequirements{{"bearer": {}}}
	return []a2asrv.RequestHandlerOption{a2asrv.WithCallInterceptor(gate{})}
}

func serve(port string) error {
	card := &a2a.AgentCard{
		Name:               "peer-test",
		Description:        "The test agent of test/peers on the Go SDK.",
		Version:            "1",
		ProtocolVersion:    "0.3.0",
		URL:                "http://127.0.0.1:" + port + "/rpc",
		PreferredTransport: a2a.TransportProtocolJSONRPC,
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Capabilities:       a2a.AgentCapabilities{Streaming: true},
		Skills:             []a2a.AgentSkill{{ID: "talk", Name: "talk", Description: "Talks.", Tags: []string{"test"}}},
	}
	mux := http.NewServeMux()
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor{}, demands(card)...)))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return http.Serve(listener, mux)
}
