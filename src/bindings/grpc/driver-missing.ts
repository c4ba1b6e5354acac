/** An optional package that gRPC needs is not installed. */
export class DriverMissing extends Error {
  override readonly name = 'DriverMissing';
  readonly code = 'ERR_DRIVER_MISSING';

  constructor(cause: unknown) {
    super('gRPC needs the package @bufbuild/protobuf: npm install @bufbuild/protobuf', { cause });
  }
}
