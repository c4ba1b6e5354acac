import type { FilePart } from '#protocol';
import { getBytesFromFilePart } from '#protocol';

/** A sentence about a file that a caller sent: what it is, how large, and for a picture its width and height. */
export function aboutFile(file: FilePart): string {
  const name = file.filename ?? 'Your file';
  const bytes = getBytesFromFilePart(file);
  const type = file.mediaType === undefined ? '' : ` (${file.mediaType})`;
  if (bytes === undefined) return `${name}${type} is a link. I do not download it. `;
  const size = bytes.length < 1024 ? `${bytes.length} bytes` : `${Math.round(bytes.length / 1024)} KiB`;
  const picture = pictureSize(bytes);
  if (picture === undefined) return `${name}${type} has ${size}. `;
  const { width, height, kind } = picture;
  const shape = width === height ? 'a square' : width > height ? 'wider than high' : 'higher than wide';
  return `${name} is a ${kind} picture of ${width} × ${height} pixels, ${shape}, in ${size}. `;
}

interface PictureSize {
  readonly kind: 'PNG' | 'GIF' | 'JPEG';
  readonly width: number;
  readonly height: number;
}

/** Width and height, from the first bytes. */
function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length >= 24 && view.getUint32(0) === 0x89504e47) return { kind: 'PNG', width: view.getUint32(16), height: view.getUint32(20) };
  if (bytes.length >= 10 && view.getUint32(0) === 0x47494638) {
    return { kind: 'GIF', width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  return bytes.length >= 4 && view.getUint16(0) === 0xffd8 ? jpegSize(view) : undefined;
}

/** The frame header (SOF) of a JPEG has the size. The segments before it are skipped. */
function jpegSize(view: DataView): PictureSize | undefined {
  for (let at = 2; at + 9 < view.byteLength; ) {
    const marker = view.getUint16(at);
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && marker !== 0xffc4 && marker !== 0xffc8 && marker !== 0xffcc;
    if (isFrame) return { kind: 'JPEG', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (marker < 0xff00) return undefined;
    at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return undefined;
}
