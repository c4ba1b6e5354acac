"""The credential that the tests give to a client, in the way of each version of the SDK."""
import os

TOKEN = os.environ.get('PEER_TOKEN')


def interceptors():
    """The SDK's own: it reads in the card which header a scheme wants."""
    if TOKEN is None:
        return []
    from a2a.client.auth import AuthInterceptor, CredentialService

    class Credentials(CredentialService):
        async def get_credentials(self, security_scheme_name, context):
            return TOKEN if security_scheme_name == 'bearer' else None

    return [AuthInterceptor(Credentials())]


def headers():
    """For the bindings whose interceptors the SDK does not call yet: HTTP+JSON of 0.3."""
    return {} if TOKEN is None else {'Authorization': f'Bearer {TOKEN}'}


def open_channel(address):
    """For gRPC of 0.3, where the SDK does not call its interceptors either."""
    import grpc  # only where the package for gRPC is installed

    class Bearer(grpc.aio.UnaryUnaryClientInterceptor):
        async def intercept_unary_unary(self, proceed, details, request):
            return await proceed(with_token(details), request)

    class BearerStream(grpc.aio.UnaryStreamClientInterceptor):
        async def intercept_unary_stream(self, proceed, details, request):
            return await proceed(with_token(details), request)

    def with_token(details):
        metadata = grpc.aio.Metadata(*(details.metadata or ()), ('authorization', f'Bearer {TOKEN}'))
        return details._replace(metadata=metadata)

    return grpc.aio.insecure_channel(address, interceptors=None if TOKEN is None else [Bearer(), BearerStream()])
