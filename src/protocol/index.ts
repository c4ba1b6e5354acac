/**
 * The protocol room: one canonical model (A2A 1.0 JSON), and a codec for every dialect that is spoken out there.
 * It imports nothing, touches nothing, and everything else stands on it.
 *
 * ```ts
 * const found = registry.detect({ path: '/a2a', method: 'message/send', params });
 * const request = found?.decode('send.request', params, env);
 * ```
 */
export * from './admin.ts';
export * from './admin-mesh.ts';
export * from './admin-wire.ts';
export * from './agent.ts';
export * from './audit.ts';
export * from './behave.ts';
export * from './canonical-json.ts';
export * from './card.ts';
export { type CardProblem, cardProblems } from './card-check.ts';
export * from './choices.ts';
export * from './dialect-options.ts';
export * from './dialects/dialect.ts';
export * from './dialects/fallback.ts';
export * from './dialects/fault.ts';
export * from './dialects/interfaces.ts';
export * from './dialects/registry.ts';
export * from './dialects/rest.ts';
export * from './dialects/superset.ts';
export * from './differences.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './fold.ts';
export * from './ids.ts';
export * from './json.ts';
export * from './lines.ts';
export * from './llm.ts';
export * from './losses.ts';
export * from './message.ts';
export { type MqttErrorName, mqttError } from './mqtt-errors.ts';
export * from './notes.ts';
export * from './operations.ts';
export * from './parts.ts';
export * from './ports.ts';
export * from './push.ts';
export * from './requests.ts';
export * from './service.ts';
export * from './signals.ts';
export * from './signing.ts';
export { type SigningForm, signingPayload } from './signing-forms.ts';
export * from './slashes.ts';
export * from './standard-schema.ts';
export * from './states.ts';
export * from './task.ts';
export * from './translate.ts';
export * from './web-verifier.ts';
export * from './webhooks.ts';
