"""Makes python-*.json: cards signed by the official Python SDK. Run by hand when that SDK changes:

python3 -m venv /tmp/a2a && /tmp/a2a/bin/pip install 'a2a-sdk[signing]' && /tmp/a2a/bin/python test/corpus-signing/make-python.py
"""

import json
import pathlib
from importlib.metadata import version

from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.types import AgentCard
from a2a.utils.signing import _canonicalize_agent_card, create_agent_card_signer
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt import PyJWK
from jwt.algorithms import get_default_algorithms

HERE = pathlib.Path(__file__).parent
KEYS = {
    'ES256': ec.generate_private_key(ec.SECP256R1()),
    'RS256': rsa.generate_private_key(65537, 2048),
    'EdDSA': ed25519.Ed25519PrivateKey.generate(),
}
MINIMAL = {
    'name': 'Minimal',
    'description': 'Nothing optional.',
    'version': '1.0.0',
    'supportedInterfaces': [{'url': 'https://agent.example/a2a', 'protocolBinding': 'JSONRPC', 'protocolVersion': '1.0'}],
    'capabilities': {},
    'defaultInputModes': ['text/plain'],
    'defaultOutputModes': ['text/plain'],
    'skills': [{'id': 's', 'name': 'S', 'description': 'A skill.', 'tags': ['t']}],
}
LEGACY = {'url': 'https://agent.example/a2a', 'protocolBinding': 'JSONRPC', 'protocolVersion': '0.3'}
FLOW = {'tokenUrl': 'https://id.example/token', 'scopes': {'read': 'Read', 'write': ''}}
SCHEMES = {
    'key': {'apiKeySecurityScheme': {'location': 'header', 'name': 'X-Key'}},
    'bearer': {'httpAuthSecurityScheme': {'scheme': 'Bearer', 'bearerFormat': 'JWT', 'description': 'A token.'}},
    'oauth': {
        'oauth2SecurityScheme': {
            'flows': {'authorizationCode': {**FLOW, 'authorizationUrl': 'https://id.example/auth', 'pkceRequired': True}},
            'oauth2MetadataUrl': 'https://id.example/.well-known/oauth-authorization-server',
        }
    },
    'machine': {'oauth2SecurityScheme': {'flows': {'clientCredentials': FLOW}}},
    'oidc': {'openIdConnectSecurityScheme': {'openIdConnectUrl': 'https://id.example/.well-known/openid-configuration'}},
    'mtls': {'mtlsSecurityScheme': {}},
}
CASES = {
    'minimal': ('ES256', MINIMAL, MessageToDict),
    'non-ascii': (
        'EdDSA',
        {
            **MINIMAL,
            'name': 'Ünïcödé 代理 🤖',
            'capabilities': {
                'streaming': True,
                'extensions': [
                    {
                        'uri': 'https://example.org/ext/v1',
                        'required': False,
                        'params': {'\U0001f600': 1, '\ufb33': 2.5, 'é': 1e21, 'tiny': 1e-7, 'deep': {'list': [1, '', {}, None, 'x'], 'off': False}},
                    }
                ],
            },
        },
        MessageToDict,
    ),
    'empty-required': (
        'ES256',
        {**MINIMAL, 'description': '', 'skills': [{'id': 's', 'name': 'S', 'description': '', 'tags': []}], 'defaultOutputModes': []},
        MessageToDict,
    ),
    'optional-default': (
        'RS256',
        {**MINIMAL, 'documentationUrl': '', 'capabilities': {'streaming': False, 'pushNotifications': False, 'extendedAgentCard': False}},
        MessageToDict,
    ),
    'secured': (
        'RS256',
        {
            **MINIMAL,
            'provider': {'organization': 'Example', 'url': 'https://example.org'},
            'securitySchemes': SCHEMES,
            'securityRequirements': [{'schemes': {'oauth': {'list': ['read', 'write']}}}, {'schemes': {'key': {}, 'mtls': {}}}],
            'skills': [{**MINIMAL['skills'][0], 'securityRequirements': [{'schemes': {'bearer': {}}}]}],
        },
        MessageToDict,
    ),
    'hybrid': (
        'ES256',
        {
            **MINIMAL,
            'supportedInterfaces': [*MINIMAL['supportedInterfaces'], LEGACY],
            'securitySchemes': SCHEMES,
            'securityRequirements': [{'schemes': {'oauth': {'list': ['read']}}}],
        },
        agent_card_to_dict,
    ),
}
SOURCE = f'a2a-sdk {version("a2a-sdk")} with PyJWT {version("PyJWT")} (PyPI), create_agent_card_signer, served by '

for name, (alg, data, serve) in CASES.items():
    algorithm = get_default_algorithms()[alg]
    private = {**json.loads(algorithm.to_jwk(KEYS[alg])), 'alg': alg}
    public = {**json.loads(algorithm.to_jwk(KEYS[alg].public_key())), 'alg': alg, 'kid': f'python-{alg}'}
    public.pop('key_ops', None)
    card = ParseDict(data, AgentCard())
    payload = _canonicalize_agent_card(card)
    signer = create_agent_card_signer(PyJWK(private), {'kid': f'python-{alg}', 'alg': alg, 'jku': None, 'typ': 'JOSE'})
    signed = serve(signer(card))
    vector = {'source': SOURCE + serve.__name__, 'keys': {'keys': [public]}, 'payload': payload, 'card': signed}
    (HERE / f'python-{name}.json').write_text(json.dumps(vector, indent=2, ensure_ascii=False) + '\n')
    print(name, payload)
