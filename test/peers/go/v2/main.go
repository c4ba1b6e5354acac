package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log"
	"net"
	"net/http"
	"os"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"
)

func main() {
	switch os.Args[1] {
	case "server":
		log.Fatal(serve(os.Args[2]))
	case "card":
		log.Fatal(printCard(os.Args[2], os.Args[3]))
	}
	made, err := newClient(os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	drive(made)
}

// printCard prints the schemes that a card requires, and exits. The form of the card is a query of the address.
func printCard(url, form string) error {
	card, err := agentcard.DefaultResolver.Resolve(context.Background(), url+"?card="+form)
	if err != nil {
		return err
	}
	names := []a2a.SecuritySchemeName{}
	for _, requirement := range card.SecurityRequirements {
		for name := range requirement {
			names = append(names, name)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(names); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

type executor struct{}

func (executor) Execute(ctx context.Context, run *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if run.StoredTask == nil && !yield(a2a.NewSubmittedTask(run, run.Message), nil) {
			return
		}
		if !yield(a2a.NewStatusUpdateEvent(run, a2a.TaskStateWorking, nil), nil) {
			return
		}
		text := ""
		for _, part := range run.Message.Parts {
			text += part.Text()
		}
		behave(ctx, text, run.ContextID, string(run.TaskID), &writer{run: run, yield: yield})
	}
}

func (executor) Cancel(_ context.Context, run *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(run, a2a.TaskStateCanceled, nil), nil)
	}
}

type writer struct {
	run      *a2asrv.ExecutorContext
	yield    func(a2a.Event, error) bool
	artifact a2a.ArtifactID
}

func (w *writer) text(chunk string, isFirst bool) bool {
	if isFirst {
		event := a2a.NewArtifactEvent(w.run, a2a.NewTextPart(chunk))
		w.artifact = event.Artifact.ID
		return w.yield(event, nil)
	}
	return w.yield(a2a.NewArtifactUpdateEvent(w.run, w.artifact, a2a.NewTextPart(chunk)), nil)
}

func (w *writer) status(state a2a.TaskState, text string) bool {
	message := a2a.NewMessageForTask(a2a.MessageRoleAgent, w.run, a2a.NewTextPart(text))
	return w.yield(a2a.NewStatusUpdateEvent(w.run, state, message), nil)
}

func (w *writer) ask(question string) bool { return w.status(a2a.TaskStateInputRequired, question) }
func (w *writer) signIn(request string) bool {
	return w.status(a2a.TaskStateAuthRequired, request)
}
func (w *writer) fail(reason string) bool { return w.status(a2a.TaskStateFailed, reason) }
func (w *writer) complete() bool {
	return w.yield(a2a.NewStatusUpdateEvent(w.run, a2a.TaskStateCompleted, nil), nil)
}

func (w *writer) echo() bool {
	parts := []*a2a.Part{}
	for _, part := range w.run.Message.Parts {
		if _, isText := part.Content.(a2a.Text); !isText {
			parts = append(parts, part)
		}
	}
	return w.yield(a2a.NewArtifactEvent(w.run, parts...), nil)
}

func serve(port string) error {
	url := "http://127.0.0.1:" + port
	card := &a2a.AgentCard{
		Name:        "peer-test",
		Description: "The test agent of test/peers on the Go SDK.",
		Version:     "1",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(url+"/rpc", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(url, a2a.TransportProtocolHTTPJSON),
		},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Capabilities:       a2a.AgentCapabilities{Streaming: true},
		Skills:             []a2a.AgentSkill{{ID: "talk", Name: "talk", Description: "Talks.", Tags: []string{"test"}}},
	}
	handler := a2asrv.NewHandler(executor{}, demands(card)...)
	if os.Getenv("PEER_BINDING") == "GRPC" {
		address, err := serveGRPC(handler)
		if err != nil {
			return err
		}
		card.SupportedInterfaces = []*a2a.AgentInterface{a2a.NewAgentInterface(address, a2a.TransportProtocolGRPC)}
	}
	mux := http.NewServeMux()
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/", a2asrv.NewRESTHandler(handler))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return http.Serve(listener, mux)
}

// gate refuses calls without the token.
type gate struct {
	a2asrv.PassthroughCallInterceptor
}

func (gate) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	if given, _ := call.ServiceParams().Get("authorization"); slices.Contains(given, "Bearer "+token) {
		return ctx, nil, nil
	}
	return ctx, nil, a2a.ErrUnauthenticated
}

// demands lets the server demand the token, if there is one, and says so in the card.
func demands(card *a2a.AgentCard) []a2asrv.RequestHandlerOption {
	if token == "" {
		return nil
	}
	card.SecuritySchemes = a2a.NamedSecuritySchemes{"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}}
	card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"bearer": {}}}
	return []a2asrv.RequestHandlerOption{a2asrv.WithCallInterceptors(gate{})}
}

// serveGRPC serves the agent over gRPC on a free port, and returns its address.
func serveGRPC(handler a2asrv.RequestHandler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(server)
	go func() { log.Fatal(server.Serve(listener)) }()
	return listener.Addr().String(), nil
}
