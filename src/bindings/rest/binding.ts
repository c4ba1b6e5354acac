import type { ClientBinding } from '../binding.ts';
import { restLink } from './link.ts';

/** HTTP+JSON: one path per operation, which each dialect's grammar names. */
export const HTTP_JSON: ClientBinding<'HTTP+JSON'> = {
  id: 'rest',
  protocolBinding: 'HTTP+JSON',
  otherNames: ['REST', 'HTTP'],
  title: 'HTTP+JSON',
  link: restLink,
  formOf: (dialect, registry) => registry.restForm(dialect),
  has: (dialect, operation) => dialect.rest?.routes.some((route) => route.operation === operation) ?? false,
};
