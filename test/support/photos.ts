import { deflateSync, crc32 } from 'node:zlib'
import type Sharp from 'sharp'

/** What a camera writes, and what nobody may find in what is stored. */
export const PLACE = 'PLACE-52.5200N-13.4050E'

const RED = { r: 200, g: 20, b: 20 }
const WIDE = 48
const HIGH = 32

/** A picture whose upper left quarter is red, and the rest white. */
const quarter = (sharp: typeof Sharp) =>
  sharp({ create: { width: WIDE, height: HIGH, channels: 3, background: 'white' } }).composite([
    { input: { create: { width: WIDE / 2, height: HIGH / 2, channels: 3, background: RED } }, left: 0, top: 0 },
  ])

const EXIF = { IFD0: { Make: PLACE, Model: PLACE }, IFD3: { GPSLatitude: '52/1 31/1 12/1', GPSAreaInformation: PLACE } }
const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="${PLACE}"/></rdf:RDF></x:xmpmeta>`

/** A picture that lies as a camera held in each of the eight ways writes it: upright only for who reads how it lies. */
const LYING = [
  { turn: 0, mirror: false },
  { turn: 0, mirror: true },
  { turn: 180, mirror: false },
  { turn: 180, mirror: true },
  { turn: 90, mirror: true },
  { turn: 270, mirror: false },
  { turn: 270, mirror: true },
  { turn: 90, mirror: false },
] as const

const segment = (marker: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}
/** A JPEG with more segments behind its first two bytes, and more bytes behind its end. */
const withSegments = (jpeg: Buffer, segments: Buffer[], behind: Buffer = Buffer.alloc(0)) =>
  Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2), behind])

const chunk = (name: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body) >>> 0)
  return Buffer.concat([length, body, sum])
}
/** A PNG with more chunks behind its header. */
const withChunks = (png: Buffer, chunks: Buffer[]) => Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)])

const gifBlocks = (data: Buffer): Buffer =>
  Buffer.concat([
    ...Array.from({ length: Math.ceil(data.length / 255) }, (_, index) => data.subarray(index * 255, (index + 1) * 255)).flatMap((part) => [Buffer.from([part.length]), part]), // prettier-ignore
    Buffer.from([0]),
  ])
/** A GIF with an extension before its first image. */
function withExtension(gif: Buffer, label: number, blocks: Buffer): Buffer {
  const at = 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1)
  return Buffer.concat([gif.subarray(0, at), Buffer.from([0x21, label]), blocks, gif.subarray(at)])
}

interface Photo {
  bytes: Buffer
  type: string
}

/** Files as cameras, phones and programs write them, each with a place in it. Their pictures are `quarter`, upright. */
export async function photos(sharp: typeof Sharp): Promise<Record<string, Photo>> {
  const source = await quarter(sharp).png().toBuffer()
  const plain = () => sharp(source)
  const jpeg = await plain().jpeg().toBuffer()
  const png = await plain().png().toBuffer()
  const gif = await plain().gif().toBuffer()
  const thumbnail = await sharp(source).resize(16).jpeg().withExif(EXIF).toBuffer()
  const exif = (await sharp(await plain().withExif(EXIF).jpeg().toBuffer()).metadata()).exif ?? Buffer.alloc(0)
  const xmp = Buffer.from(XMP)
  const found: Record<string, Photo> = {}
  const add = (name: string, type: string, bytes: Buffer) => (found[name] = { bytes, type: `image/${type}` })

  /** It lies so that this orientation of EXIF puts it upright. */
  const lying = async (orientation: number) => {
    const { turn = 0, mirror = false } = LYING[orientation - 1] ?? {}
    return sharp(
      await sharp(await plain().rotate(turn).png().toBuffer())
        .flop(mirror)
        .toBuffer(),
    ).withMetadata({ orientation, exif: EXIF })
  }
  for (let way = 1; way <= LYING.length; way++)
    add(`a JPEG of a camera held in way ${way}`, 'jpeg', await (await lying(way)).jpeg().toBuffer())
  for (const type of ['png', 'webp', 'avif'] as const)
    add(`a ${type} of a camera held upright`, type, await (await lying(6)).toFormat(type, { quality: 90 }).toBuffer())
  for (const type of ['jpeg', 'png', 'webp', 'avif'] as const)
    add(`a ${type} with XMP`, type, await plain().withXmp(XMP).toFormat(type, { quality: 90 }).toBuffer())
  add('a JPEG with EXIF twice', 'jpeg', withSegments(jpeg, [segment(0xe1, exif), segment(0xe1, exif)]))
  add('a JPEG with a thumbnail of EXIF', 'jpeg', withSegments(jpeg, [segment(0xe1, Buffer.concat([exif, thumbnail]))]))
  add('a JPEG with a thumbnail of JFXX', 'jpeg', withSegments(jpeg, [segment(0xe0, Buffer.concat([Buffer.from('JFXX\0\x10'), thumbnail]))])) // prettier-ignore
  add('a JPEG of Photoshop, with IPTC', 'jpeg', withSegments(jpeg, [segment(0xed, Buffer.concat([Buffer.from('Photoshop 3.0\x008BIM\x04\x04\0\0'), iptc()]))])) // prettier-ignore
  add('a JPEG with a comment', 'jpeg', withSegments(jpeg, [segment(0xfe, Buffer.from(PLACE))]))
  add('a JPEG with an own segment', 'jpeg', withSegments(jpeg, [segment(0xeb, Buffer.from(`MAKER\0${PLACE}`))]))
  add('a JPEG with extended XMP', 'jpeg', withSegments(jpeg, [segment(0xe1, Buffer.concat([Buffer.from('http://ns.adobe.com/xmp/extension/\0'), xmp]))])) // prettier-ignore
  add('a JPEG with a second picture behind it', 'jpeg', withSegments(jpeg, [segment(0xe2, Buffer.from(`MPF\0${PLACE}`))], thumbnail)) // prettier-ignore
  add('a JPEG with a film behind it', 'jpeg', withSegments(jpeg, [], Buffer.from(`\0\0\0\x18ftypmp42${PLACE}`)))
  add('a progressive JPEG', 'jpeg', await plain().withExif(EXIF).jpeg({ progressive: true }).toBuffer())
  add('a JPEG for print', 'jpeg', await plain().toColourspace('cmyk').withExif(EXIF).jpeg().toBuffer())
  add('a JPEG of a wide screen', 'jpeg', await plain().withIccProfile('p3').withExif(EXIF).jpeg({ quality: 95 }).toBuffer()) // prettier-ignore
  add('a PNG with text', 'png', withChunks(png, [chunk('tEXt', Buffer.from(`Location\0${PLACE}`))]))
  add('a PNG with packed text', 'png', withChunks(png, [chunk('zTXt', Buffer.concat([Buffer.from('Raw profile type exif\0\0'), deflateSync(exif)]))])) // prettier-ignore
  add('a PNG with text of any language', 'png', withChunks(png, [chunk('iTXt', Buffer.from(`XML:com.adobe.xmp\0\0\0\0\0${XMP}`))])) // prettier-ignore
  add('a PNG with EXIF', 'png', withChunks(png, [chunk('eXIf', exif.subarray(6))]))
  add('a PNG with a time', 'png', withChunks(png, [chunk('tIME', Buffer.from([7, 0xea, 11, 28, 4, 30, 0])), chunk('tEXt', Buffer.from(`Author\0${PLACE}`))])) // prettier-ignore
  add('a PNG of 16 bits', 'png', withChunks(await plain().toColourspace('rgb16').png().toBuffer(), [chunk('tEXt', Buffer.from(`a\0${PLACE}`))])) // prettier-ignore
  add('a PNG with a palette', 'png', withChunks(await plain().png({ palette: true }).toBuffer(), [chunk('tEXt', Buffer.from(`a\0${PLACE}`))])) // prettier-ignore
  add('a PNG with an unknown chunk', 'png', withChunks(png, [chunk('gpSx', Buffer.from(PLACE))]))
  add('a GIF with a comment', 'gif', withExtension(gif, 0xfe, gifBlocks(Buffer.from(PLACE))))
  add('a GIF with XMP', 'gif', withExtension(gif, 0xff, Buffer.concat([Buffer.from('\x0bXMP DataXMP'), gifBlocks(xmp)]))) // prettier-ignore
  add('a GIF with something behind it', 'gif', Buffer.concat([gif, Buffer.from(PLACE)]))
  add('a WebP with something behind it', 'webp', Buffer.concat([await plain().webp({ quality: 90 }).toBuffer(), Buffer.from(PLACE)])) // prettier-ignore
  return found
}

/** A record of IPTC with a place. */
function iptc(): Buffer {
  const record = Buffer.concat([Buffer.from([0x1c, 2, 92, 0, PLACE.length]), Buffer.from(PLACE)])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(record.length)
  return Buffer.concat([length, record])
}

/** A picture that says it has this many pixels a side, and has one. */
export function bomb(type: 'png' | 'gif' | 'jpeg' | 'webp' | 'avif', real: Buffer, side: number): Buffer {
  const bytes = Buffer.from(real)
  if (type === 'png') {
    bytes.writeUInt32BE(side, 16)
    bytes.writeUInt32BE(side, 20)
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)) >>> 0, 29)
  } else if (type === 'gif') {
    const at = bytes.indexOf(0x2c, 13 + 3 * 2 ** (((bytes[10] ?? 0) & 7) + 1))
    for (const place of [6, 8, at + 5, at + 7]) bytes.writeUInt16LE(side, place)
  } else if (type === 'jpeg') {
    const at = bytes.indexOf(Buffer.from([0xff, 0xc0]))
    bytes.writeUInt16BE(side, at + 5)
    bytes.writeUInt16BE(side, at + 7)
  } else if (type === 'webp') {
    const extended = Buffer.alloc(18)
    extended.write('VP8X', 0, 'latin1')
    extended.writeUInt32LE(10, 4)
    extended.writeUIntLE(side - 1, 12, 3)
    extended.writeUIntLE(side - 1, 15, 3)
    const whole = Buffer.concat([bytes.subarray(0, 12), extended, bytes.subarray(12)])
    whole.writeUInt32LE(whole.length - 8, 4)
    return whole
  } else {
    const at = bytes.indexOf('ispe')
    bytes.writeUInt32BE(side, at + 8)
    bytes.writeUInt32BE(side, at + 12)
  }
  return bytes
}

/** A GIF of this many frames of one pixel. */
export function animation(frames: number): Buffer {
  const [dark, light] = [0x44, 0x4c].map((pixel) => Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, pixel, 1, 0]))
  return Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    ...Array.from({ length: frames }, (_, index) => (index % 2 === 0 ? dark : light) as Buffer),
    Buffer.from([0x3b]),
  ])
}
