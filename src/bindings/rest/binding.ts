import type { Binding } from '../binding.ts';
import { restLink } from './link.ts';
import { answerRest, hasRestRoute, refuseRest } from './serve.ts';

/** HTTP+JSON: one path per operation, which each dialect's grammar names. */
export const HTTP_JSON: Binding<'HTTP+JSON'> = {
  id: 'rest',
  protocolBinding: 'HTTP+JSON',
  otherNames: ['REST', 'HTTP'],
  title: 'HTTP+JSON',
  route: { methods: ['GET', 'HEAD', 'POST', 'DELETE'], matches: (path) => hasRestRoute(path), bodyOptional: true },
  // The base address itself: 1.0's paths are below it, 0.3's below its `/v1`.
  paths: { '1.0': '', '0.3': '' },
  serve: answerRest,
  refuse: refuseRest,
  link: restLink,
  formOf: (dialect, registry) => registry.restForm(dialect),
  has: (dialect, operation) => dialect.rest?.routes.some((route) => route.operation === operation) ?? false,
};
