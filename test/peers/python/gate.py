"""Demands the token of PEER_TOKEN, if there is one: a middleware for HTTP, and an interceptor for gRPC. Cards are public."""
import os

from starlette.responses import JSONResponse

TOKEN = os.environ.get('PEER_TOKEN')


class Gate:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        is_open = TOKEN is None or scope['type'] != 'http' or scope['path'].startswith('/.well-known/')
        if is_open or dict(scope['headers']).get(b'authorization') == f'Bearer {TOKEN}'.encode():
            return await self.app(scope, receive, send)
        refusal = JSONResponse({'error': 'a token is needed'}, status_code=401, headers={'WWW-Authenticate': 'Bearer'})
        await refusal(scope, receive, send)


def interceptors():
    if TOKEN is None:
        return []
    import grpc  # only where the package for gRPC is installed

    async def refuse(request, context):
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, 'a token is needed')

    async def refuse_stream(request, context):
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, 'a token is needed')
        yield  # a stream is a generator

    class Interceptor(grpc.aio.ServerInterceptor):
        async def intercept_service(self, continuation, details):
            handler = await continuation(details)
            if dict(details.invocation_metadata).get('authorization') == f'Bearer {TOKEN}':
                return handler
            if handler.response_streaming:
                return grpc.unary_stream_rpc_method_handler(refuse_stream, handler.request_deserializer, handler.response_serializer)
            return grpc.unary_unary_rpc_method_handler(refuse, handler.request_deserializer, handler.response_serializer)

    return [Interceptor()]
