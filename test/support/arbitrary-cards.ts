import fc from 'fast-check';
import type { AgentCard, SecurityScheme } from '#protocol';
import { ID, KEY, MEDIA_TYPE, METADATA, shaped, some, WORDS } from './arbitrary-values.ts';

const scopes = fc.dictionary(KEY, WORDS, { maxKeys: 2 });
const URLS = fc.constantFrom('https://auth.example/a', 'https://auth.example/b');
const scheme: fc.Arbitrary<SecurityScheme> = shaped(
  fc.oneof(
    fc.record({
      apiKeySecurityScheme: fc.record(
        { location: fc.constantFrom('query', 'header', 'cookie'), name: ID, description: WORDS },
        { requiredKeys: ['location', 'name'] },
      ),
    }),
    fc.record({
      httpAuthSecurityScheme: fc.record({ scheme: fc.constantFrom('Bearer', 'Basic'), bearerFormat: ID }, { requiredKeys: ['scheme'] }),
    }),
    fc.record({ openIdConnectSecurityScheme: fc.record({ openIdConnectUrl: URLS }) }),
    fc.record({ mtlsSecurityScheme: fc.record({ description: WORDS }, { requiredKeys: [] }) }),
    fc.record({
      oauth2SecurityScheme: fc.record(
        {
          flows: fc.oneof(
            fc.record({
              authorizationCode: fc.record(
                { authorizationUrl: URLS, tokenUrl: URLS, refreshUrl: URLS, scopes, pkceRequired: fc.constant(true) },
                { requiredKeys: ['authorizationUrl', 'tokenUrl', 'scopes'] },
              ),
            }),
            fc.record({ clientCredentials: fc.record({ tokenUrl: URLS, scopes }) }),
            fc.record({ deviceCode: fc.record({ deviceAuthorizationUrl: URLS, tokenUrl: URLS, scopes }) }),
            fc.record({ implicit: fc.record({ authorizationUrl: URLS, scopes }) }),
            fc.record({ password: fc.record({ tokenUrl: URLS, scopes }) }),
          ),
          oauth2MetadataUrl: URLS,
        },
        { requiredKeys: ['flows'] },
      ),
    }),
  ),
);
const MODES = some(MEDIA_TYPE, 2);
const requirement = fc.record({
  schemes: fc.dictionary(ID, fc.record({ list: some(KEY, 2) }, { requiredKeys: [] }), { minKeys: 1, maxKeys: 2 }),
});
export const card: fc.Arbitrary<AgentCard> = shaped(
  fc.record(
    {
      name: WORDS,
      description: WORDS,
      version: fc.constantFrom('1.0.0', '0.3.1'),
      supportedInterfaces: some(
        fc.record(
          {
            url: fc.constantFrom('https://a.example/a2a', 'https://a.example/rest', 'https://b.example/'),
            protocolBinding: fc.constantFrom('JSONRPC', 'HTTP+JSON', 'GRPC'),
            protocolVersion: fc.constantFrom('1.0', '0.3'),
            tenant: ID,
          },
          { requiredKeys: ['url', 'protocolBinding', 'protocolVersion'] },
        ),
      ),
      capabilities: fc.record(
        {
          streaming: fc.boolean(),
          pushNotifications: fc.boolean(),
          extendedAgentCard: fc.boolean(),
          extensions: some(
            fc.record(
              { uri: fc.constantFrom('urn:x', 'https://x.example/v1'), description: WORDS, required: fc.constant(true), params: METADATA },
              { requiredKeys: ['uri'] },
            ),
            2,
          ),
        },
        { requiredKeys: [] },
      ),
      defaultInputModes: MODES,
      defaultOutputModes: MODES,
      skills: some(
        fc.record(
          {
            id: ID,
            name: WORDS,
            description: WORDS,
            tags: some(ID, 2),
            examples: some(WORDS, 2),
            inputModes: MODES,
            outputModes: MODES,
            securityRequirements: some(requirement, 2),
          },
          { requiredKeys: ['id', 'name', 'description', 'tags'] },
        ),
        2,
      ),
      provider: fc.record({ organization: WORDS, url: URLS }),
      documentationUrl: URLS,
      iconUrl: URLS,
      securitySchemes: fc.dictionary(ID, scheme, { minKeys: 1, maxKeys: 3 }),
      securityRequirements: some(requirement, 2),
      signatures: some(fc.record({ protected: ID, signature: ID, header: METADATA }, { requiredKeys: ['protected', 'signature'] }), 2),
    },
    {
      requiredKeys: [
        'name',
        'description',
        'version',
        'supportedInterfaces',
        'capabilities',
        'defaultInputModes',
        'defaultOutputModes',
        'skills',
      ],
    },
  ),
);
