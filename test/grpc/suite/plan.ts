import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isObject } from '#protocol';
import type { SuiteSchema } from './schema.ts';

/** What a request of the suite asks the server to do. */
export interface Plan {
  readonly headers: Readonly<Record<string, string[]>>;
  readonly trailers: Readonly<Record<string, string[]>>;
  /** The content of each message, in base64. */
  readonly data: readonly string[];
  readonly error: PlannedError | undefined;
  readonly delayMs: number;
  /** What the server has seen: goes into the first message, or else into the error. */
  readonly seen: JsonObject;
}

interface PlannedError {
  readonly code: number;
  readonly message: string;
  readonly details: readonly JsonValue[];
}

/** The codes of gRPC, in order. */
const CODES = [
  ...['UNSPECIFIED', 'CANCELED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED'],
  ...['RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
  'UNAUTHENTICATED',
];

/** Headers that the suite sends to see them in the response. */
const ECHOED = ['x-conformance-test', 'x-test-case-name'];

/** What the server knows of a call besides its message. */
export interface SuiteCall {
  header(name: string): string | undefined;
  readonly timeoutMs: number | undefined;
}

/** Reads the plan in the message of a call. `name`: that of the message, for example `UnaryRequest`. */
export function planOf(schema: SuiteSchema, name: string, message: JsonObject, { header, timeoutMs }: SuiteCall): Plan {
  const definition = objectIn(message['responseDefinition']);
  const { responseData } = definition;
  const echoed = ECHOED.flatMap((each) => {
    const value = header(each);
    return value === undefined ? [] : [{ name: each, value: value.split(/, ?/) }];
  });
  const failure = definition['error'];
  return {
    headers: headersIn(definition['responseHeaders']),
    trailers: headersIn(definition['responseTrailers']),
    data: typeof responseData === 'string' ? [responseData] : listIn(responseData).map(String),
    error: failure === undefined ? undefined : errorIn(objectIn(failure)),
    delayMs: Number(definition['responseDelayMs'] ?? 0),
    seen: {
      requestHeaders: echoed,
      requests: [{ '@type': schema.typeUrl(name), ...message }],
      ...(timeoutMs === undefined ? {} : { timeoutMs: String(Math.trunc(timeoutMs)) }),
    },
  };
}

/** The details of the planned error, with what the server has seen unless a message had it already. */
export function detailsOf(schema: SuiteSchema, { error, seen }: Plan, wasSeen: boolean): readonly JsonValue[] {
  const own = wasSeen ? [] : [{ '@type': schema.typeUrl('ConformancePayload.RequestInfo'), ...seen }];
  return [...(error?.details ?? []), ...own];
}

/** The response message number `at`. */
export function payloadOf({ data, seen }: Plan, at: number): JsonObject {
  return { payload: { data: data[at] ?? '', ...(at === 0 ? { requestInfo: seen } : {}) } };
}

function errorIn({ code, message, details }: JsonObject): PlannedError {
  return { code: CODES.indexOf(String(code).replace('CODE_', '')), message: String(message ?? ''), details: listIn(details) };
}

function headersIn(value: JsonValue | undefined): Record<string, string[]> {
  return Object.fromEntries(
    listIn(value)
      .map(objectIn)
      .map(({ name, value: values }) => [String(name), listIn(values).map(String)]),
  );
}

function objectIn(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? { ...value } : {};
}

function listIn(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
