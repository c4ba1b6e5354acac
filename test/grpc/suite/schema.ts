import { readFileSync } from 'node:fs';
import type { DescMessage, DescService, FileRegistry, JsonObject, Message } from '@bufbuild/protobuf';
import { createFileRegistry, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { isObject } from '#protocol';

const PACKAGE = 'connectrpc.conformance.v1';

/** The messages of the suite, read from its proto files at run time. The suite is not part of this repository. */
export class SuiteSchema {
  readonly registry: FileRegistry;

  /** `image`: a `FileDescriptorSet`, as `buf build` writes it. */
  constructor(image: string) {
    this.registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(image)));
  }

  get service(): DescService {
    const found = this.registry.getService(`${PACKAGE}.ConformanceService`);
    if (found === undefined) throw new Error('the suite has no ConformanceService');
    return found;
  }

  /** The name of a message in an `Any`. */
  typeUrl(name: string): string {
    return `type.googleapis.com/${PACKAGE}.${name}`;
  }

  message(name: string): DescMessage {
    const found = this.registry.getMessage(`${PACKAGE}.${name}`);
    if (found === undefined) throw new Error(`the suite has no ${name}`);
    return found;
  }

  read(name: string, bytes: Uint8Array): JsonObject {
    return this.json(fromBinary(this.message(name), bytes));
  }

  /** The ProtoJSON of a message. */
  json(message: Message): JsonObject {
    const schema = this.registry.getMessage(message.$typeName);
    const json = schema === undefined ? undefined : toJson(schema, message, { registry: this.registry });
    if (!isObject(json)) throw new Error(`${message.$typeName} is no object in JSON`);
    return { ...json };
  }

  create(name: string, json: JsonObject): Message {
    return fromJson(this.message(name), json, { registry: this.registry });
  }

  write(name: string, json: JsonObject): Uint8Array {
    return toBinary(this.message(name), this.create(name, json));
  }
}
