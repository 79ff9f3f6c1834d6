import { createHash } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { matching } from '../../support/assertions/matching.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { BOUNDARY, MULTIPART_TYPE, multipartBody, type FormFields } from '../../support/service/forms.js';
import {
  jpeg,
  JPEG_END,
  JPEG_SCAN,
  JPEG_START,
  jpegFrame,
  jpegSegment,
  png,
  PNG_SIGNATURE,
  pngChunk,
  pngHeader,
  svg,
  SVG_NAMESPACES,
} from '../../support/readers/pictures.js';
import { spoolFiles, watchSpoolFiles } from '../../support/readers/spool-files.js';
import { until } from '../../support/service/processes.js';
import { untilAdmitted, type Call, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart } from '../../support/fixture/sent.js';

const IEX = DEMO.couriers.IEX;
const MIB = 1024 * 1024;

const { api, service } = withService();

const upload = (file: Buffer | string, name = 'logo.png', type = 'image/png', as = 'iex') =>
  api.as(as).updateCourierSettings(multipart({ logo: { file, name, type } }));

const pathOfReply = ({ body }: Reply) => String(body['data'].path);

const show = (path: string, call: Call = {}) => service().request('GET', `/${path}`, call);

/** Uploads a logo and returns the response that serves it. */
async function stored(file: Buffer | string, name?: string, type?: string): Promise<Reply> {
  const reply = await upload(file, name, type).answer();
  expect([reply.status, reply.message]).toEqual([200, 'Logo stored.']);
  return show(pathOfReply(reply));
}

describe('valid logo', () => {
  test.each([
    ['png', 'image/png', png()],
    ['jpg', 'image/jpeg', jpeg()],
    ['svg', 'image/svg+xml', svg('<circle cx="5" cy="5" r="2" fill="#fff"/>')],
  ] as const)(
    '%s: its path contains the hash of the served file, and it is public',
    async (extension, type, file) => {
      const reply = await upload(file).answer();
      const shown = await show(pathOfReply(reply));
      expect([shown.status, shown.headers.get('content-type')]).toEqual([200, type]);
      const hash = createHash('sha256').update(shown.bytes).digest('hex');
      expect(pathOfReply(reply)).toBe(`logos/${IEX}/${hash}.${extension}`);
      expect(shown.bytes.toString('latin1')).toBe(Buffer.from(file).toString('latin1'));
      const settings = await api.as('iex').getCourierSettings().ok();
      expect(settings.data.logo_path).toBe(pathOfReply(reply));
    },
  );

  test('is served with headers that prevent execution, allow any origin and cache permanently', async () => {
    const { headers } = await stored(svg());
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'cross-origin',
    });
  });

  test.each([
    ['evil.svg', 'image/svg+xml'],
    ['evil.html', 'text/html'],
    ['../../../etc/passwd', 'application/x-php'],
    ['logo.php\u0001', 'text/plain'],
    ['', 'image/gif'],
    ['x'.repeat(5_000), 'application/octet-stream'],
  ])('is identified by its content, despite the name %s and type %s', async (name, type) => {
    const shown = await stored(png(), name, type);
    expect([shown.headers.get('content-type'), shown.bytes.equals(png())]).toEqual(['image/png', true]);
  });

  test('replaces the previous logo, whose path then responds with 404', async () => {
    const first = pathOfReply(await upload(png(2, 2)).answer());
    const second = pathOfReply(await upload(png(3, 3)).answer());
    expect((await show(first)).status).toBe(404);
    expect((await show(second)).status).toBe(200);
    const { rows } = await service().owner.query(
      'select count(*)::int from courier_logos where courier_id = $1',
      [IEX],
    );
    expect(rows).toEqual([{ count: 1 }]);
    const audit = await service().owner.query(
      `select actor_id, before, after from audit_entries where action = 'courier.logo_replaced' order by id desc limit 1`,
    );
    expect(audit.rows).toEqual([
      { actor_id: DEMO.users.iex, before: { logo_path: first }, after: { logo_path: second } },
    ]);
  });

  test('writes nothing if it is unchanged', async () => {
    const first = await upload(png(4, 4)).answer();
    const before = await fingerprint(service().owner);
    const again = await upload(png(4, 4)).answer();
    expect(pathOfReply(again)).toBe(pathOfReply(first));
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  const UPLOADS = rounds(12, 100);

  test(`of ${UPLOADS} simultaneous uploads is one of those stored, and the audit entries form a chain`, async () => {
    const replies = await Promise.all(
      Array.from({ length: UPLOADS }, (_, n) => untilAdmitted(() => upload(png(20 + n, 2)).answer())),
    );
    const paths = replies.map(pathOfReply);
    const settings = await api.as('iex').getCourierSettings().ok();
    const last = settings.data.logo_path;
    expect(paths.filter((path) => path === last)).toHaveLength(1);
    const { rows } = await service().owner.query<{ before: string; after: string }>(
      `select before->>'logo_path' as before, after->>'logo_path' as after from audit_entries
       where action = 'courier.logo_replaced'`,
    );
    const follows = new Map(rows.map(({ before, after }) => [before, after]));
    const befores = rows.filter(({ after }) => paths.includes(after)).map(({ before }) => before);
    expect(befores).toHaveLength(UPLOADS);
    expect(new Set(befores).size).toBe(UPLOADS);
    expect(befores.map((before) => follows.get(before)).sort()).toEqual([...paths].sort());
  });

  test("is stored for the courier that staff name, and for a courier's user always for its own", async () => {
    const form = { logo: { file: png(5, 5) } };
    const hrb = { query: { id: DEMO.couriers.HRB } };
    const named = await api.as('manager').updateCourierSettings(multipart(form), hrb).ok();
    expect(pathOfReply(named)).toMatch(`logos/${DEMO.couriers.HRB}/`);
    const own = await api.as('iex').updateCourierSettings(multipart(form), hrb).ok();
    expect(pathOfReply(own)).toMatch(`logos/${IEX}/`);
    const unknown = { query: { id: '01930a3e-0000-7000-8000-000000000000' } };
    expect(await api.as('admin').updateCourierSettings(multipart(form), unknown).status()).toBe(404);
    expect(await api.as('admin').updateCourierSettings(multipart(form)).status()).toBe(400);
  });

  test('may have 2 MiB and is rejected with 413 above, with or without a Content-Length', async () => {
    // Decoders skip text chunks, and they are not stored.
    const padding = 2 * MIB - png().length - 12;
    await upload(png(2, 2, [pngChunk('teXt', Buffer.alloc(padding))])).ok();
    const before = await fingerprint(service().owner);
    for (const bytes of [2 * MIB + 1, 3 * MIB]) {
      await upload(Buffer.alloc(bytes, 'x')).refused(413, 'body_too_large');
    }
    const chunked = await sendChunked(multipartBody({ logo: { file: Buffer.alloc(3 * MIB) } }));
    expect(chunked).toBe(413);
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  async function sendChunked(body: Buffer): Promise<number> {
    const headers = {
      'content-type': MULTIPART_TYPE,
      'transfer-encoding': 'chunked',
      authorization: `Bearer ${await service().tokenOf('iex')}`,
    };
    const { sendRaw } = await import('../../support/service/wire.js');
    const path = '/api/CourierSettingsAPI.php';
    return (await sendRaw(service().url, { method: 'POST', path, headers, body: [body] })).status;
  }
});

describe('metadata and appended data are removed', () => {
  test.each([
    ['after a PNG', Buffer.concat([png(), Buffer.from('<script>alert(1)</script>')])],
    ['after a PNG, a whole zip', Buffer.concat([png(), Buffer.from('504b0304', 'hex'), Buffer.alloc(100)])],
    ['in a PNG’s texts', png(2, 2, [pngChunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>'))])],
    ['in a PNG’s camera data', png(2, 2, [pngChunk('eXIf', Buffer.from('GPS'))])],
    ['in an unknown PNG chunk', png(2, 2, [pngChunk('phPx', Buffer.from('<?php system($_GET[0]) ?>'))])],
  ])('removes data %s', async (_where, file) => {
    expect((await stored(file)).bytes.equals(png())).toBe(true);
  });

  test.each([
    ['after a JPG', Buffer.concat([jpeg(), Buffer.from('<?php system($_GET[0]) ?>')])],
    ['in a JPG’s comment', jpeg(2, 2, [jpegSegment(0xfe, '<script>alert(1)</script>')])],
    ['in a JPG’s camera data', jpeg(2, 2, [jpegSegment(0xe1, 'Exif\0\0GPS')])],
    ['in a JPG’s other application data', jpeg(2, 2, [jpegSegment(0xed, 'Photoshop 3.0\0<html>')])],
  ])('removes data %s', async (_where, file) => {
    expect((await stored(file)).bytes.equals(jpeg())).toBe(true);
  });

  test('keeps a colour profile', async () => {
    const profile = jpeg(2, 2, [jpegSegment(0xe2, 'ICC_PROFILE\0')]);
    expect((await stored(profile)).bytes.equals(profile)).toBe(true);
  });
});

const HOSTILE_RASTERS: Record<string, Buffer> = {
  'a PNG of 10,001 x 1': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(10_001, 1),
    pngChunk('IDAT'),
    pngChunk('IEND'),
  ]),
  'a PNG of 1 x 4,294,967,295': Buffer.concat([PNG_SIGNATURE, pngHeader(1, 0xffffffff), pngChunk('IDAT')]),
  'a PNG of 9,000 x 9,000': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(9_000, 9_000),
    pngChunk('IDAT'),
    pngChunk('IEND'),
  ]),
  'a PNG of 0 x 10': Buffer.concat([PNG_SIGNATURE, pngHeader(0, 10), pngChunk('IDAT'), pngChunk('IEND')]),
  'a PNG of 30,000 x 30,000 in 900 MB of zeroes': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(30_000, 30_000),
    pngChunk('IDAT', deflateSync(Buffer.alloc(8 * MIB))),
    pngChunk('IEND'),
  ]),
  'an animated PNG': png(2, 2, [pngChunk('acTL', Buffer.alloc(8))]),
  'a PNG without pixels': Buffer.concat([PNG_SIGNATURE, pngHeader(2, 2), pngChunk('IEND')]),
  'a PNG without its end chunk': png().subarray(0, -12),
  'a PNG cut in a chunk': png().subarray(0, -20),
  'a PNG’s signature alone': PNG_SIGNATURE,
  'a PNG that does not begin with its header': Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IDAT'),
    pngHeader(2, 2),
    pngChunk('IEND'),
  ]),
  'a PNG with two headers': png(2, 2, [pngHeader(2, 2)]),
  'a PNG with a short header': Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', Buffer.alloc(4)),
    pngChunk('IEND'),
  ]),
  'a PNG with a wrong checksum': Buffer.concat([png().subarray(0, 40), Buffer.from([1]), png().subarray(41)]),
  'a PNG with a chunk of 4 GiB': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(2, 2),
    Buffer.from('ffffffff49444154', 'hex'),
  ]),
  'a JPG of 65,535 x 65,535': jpeg(65_535, 65_535),
  'a JPG of 10,001 x 10': jpeg(10_001, 10),
  'a JPG of 8,000 x 8,000': jpeg(8_000, 8_000),
  'a JPG without height': jpeg(10, 0),
  'a JPG with two frames': jpeg(2, 2, [jpegFrame(2, 2)]),
  'a lossless JPG': Buffer.concat([JPEG_START, jpegFrame(2, 2, 0xc3), JPEG_SCAN, JPEG_END]),
  'a JPG with arithmetic coding': Buffer.concat([JPEG_START, jpegFrame(2, 2, 0xc9), JPEG_SCAN, JPEG_END]),
  'a JPG without a frame': Buffer.concat([JPEG_START, JPEG_SCAN, JPEG_END]),
  'a JPG without a scan': Buffer.concat([JPEG_START, jpegFrame(2, 2), JPEG_END]),
  'a JPG without its end marker': jpeg().subarray(0, -2),
  'a JPG cut in a segment': jpeg().subarray(0, 12),
  'a JPG’s start alone': Buffer.from([0xff, 0xd8, 0xff]),
  'a JPG with a segment of length 0': Buffer.concat([JPEG_START, Buffer.from([0xff, 0xe0, 0, 0]), JPEG_END]),
  'a JPG with two start markers': Buffer.concat([
    JPEG_START,
    JPEG_START,
    jpegFrame(2, 2),
    JPEG_SCAN,
    JPEG_END,
  ]),
  'a JPG with garbage between segments': Buffer.concat([
    JPEG_START,
    jpegFrame(2, 2),
    Buffer.from('xx'),
    JPEG_SCAN,
    JPEG_END,
  ]),
};

const OTHER_FILES: Record<string, Buffer | string> = {
  nothing: '',
  'a space': ' ',
  'one byte': 'x',
  text: 'hello',
  zeroes: Buffer.alloc(1000),
  'a zip': Buffer.concat([Buffer.from('504b030414000000', 'hex'), Buffer.alloc(200)]),
  'an xlsx': Buffer.concat([Buffer.from('504b0304'), Buffer.from('[Content_Types].xml'), Buffer.alloc(200)]),
  'a gz': gzipSync('<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>'),
  'a gz bomb': gzipSync(Buffer.alloc(50 * MIB)),
  'an svgz': gzipSync(svg()),
  'a gif': Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
  'a webp': Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WEBPVP8 '), Buffer.alloc(100)]),
  'an avif': Buffer.concat([Buffer.from('0000001c66747970617669660000', 'hex'), Buffer.alloc(100)]),
  'a bmp': Buffer.concat([Buffer.from('BM'), Buffer.alloc(100)]),
  'a tiff': Buffer.concat([Buffer.from('49492a00', 'hex'), Buffer.alloc(100)]),
  'an ico': Buffer.concat([Buffer.from('00000100', 'hex'), Buffer.alloc(100)]),
  'a pdf': '%PDF-1.7\n%âãÏÓ\n1 0 obj <</Type/Catalog>> endobj',
  'a pdf that contains an svg': `%PDF-1.7\n${svg()}`,
  'an eps': '%!PS-Adobe-3.0 EPSF-3.0',
  'an mp4': Buffer.concat([Buffer.from('000000186674797069736f6d', 'hex'), Buffer.alloc(100)]),
  'an exe': Buffer.concat([Buffer.from('MZ'), Buffer.alloc(500)]),
  'an elf': Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(500)]),
  html: '<!DOCTYPE html><html><body><script>alert(1)</script></body></html>',
  'html around an svg': `<html><body>${svg()}</body></html>`,
  'an xml that is no svg': '<?xml version="1.0"?><feed><svg/></feed>',
  json: '{"svg":"<svg></svg>"}',
  'a php': '<?php echo "<svg></svg>"; ?>',
  'utf-16': Buffer.from(`\ufeff${svg()}`, 'utf16le'),
  'latin-1': Buffer.from(svg('<text>\u00e9</text>'), 'latin1'),
  'truncated utf-8': Buffer.concat([Buffer.from(svg().slice(0, -6)), Buffer.from([0xc3])]),
  'a PNG with a byte before': Buffer.concat([Buffer.from('x'), png()]),
};

const deep = (n: number) => svg(`${'<g>'.repeat(n)}<rect/>${'</g>'.repeat(n)}`);

const HOSTILE_SVGS: Record<string, string> = {
  'with a DOCTYPE': `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">${svg()}`,
  'with an entity': `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<text>&x;</text>')}`,
  'with nested entities (billion laughs)': `<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${svg('<text>&b;</text>')}`,
  'with a lower-case doctype': `<!doctype svg>${svg()}`,
  'with an entity inside': svg('<!ENTITY x "y">'),
  'with a style sheet beside it': `<?xml-stylesheet href="http://evil.example/x.css"?>${svg()}`,
  'with an instruction inside': svg('<?php system($_GET[0]) ?>'),
  'of 37,000 nested elements': deep(37_000),
  'of 101 nested elements': deep(101),
  'of 200,000 nested elements': '<svg>'.repeat(200_000),
  'of 5,001 elements': svg('<path/>'.repeat(4_999)),
  'larger than 256 KiB': svg(`<path d="${'M0 0'.repeat(70_000)}"/>`),
  'with 20,000 attributes': `<svg ${SVG_NAMESPACES} ${Array.from({ length: 20_000 }, (_, i) => `a${i}="1"`).join(' ')}/>`,
  'that is not closed': `<svg ${SVG_NAMESPACES}><rect/>`,
  'that is closed twice': `${svg()}</svg>`,
  'with two roots': svg() + svg(),
  'closed by the tag of another element': `<svg ${SVG_NAMESPACES}><g><rect/></svg></g>`,
  'with markup after it': `${svg()}<script>alert(1)</script>`,
  'with text after it': `${svg()} alert(1)`,
  'with text before it': `alert(1) ${svg()}`,
  'with an unquoted value': `<svg ${SVG_NAMESPACES}><rect width=1/></svg>`,
  'with an angle bracket in a value': `<svg ${SVG_NAMESPACES}><rect id="<script>"/></svg>`,
  'with an unclosed value': `<svg ${SVG_NAMESPACES}><rect id="x/></svg>`,
  'with an unclosed comment': svg('<!-- '),
  'with a control character': svg('<text>\u0001</text>'),
  'with nothing but a numeric control character': `<svg ${SVG_NAMESPACES}><text>&#1;</text></svg>`,
  'with only a script': `<svg ${SVG_NAMESPACES}><script>alert(1)</script></svg>`,
  'with only a page': `<svg ${SVG_NAMESPACES}><foreignObject><iframe src="http://evil.example"/></foreignObject></svg>`,
  'with only a reference': `<svg ${SVG_NAMESPACES}><use href="http://evil.example/x.svg#y"/></svg>`,
  'without content': `<svg ${SVG_NAMESPACES}/>`,
  'with another root name': svg().replaceAll('svg', 'SVG'),
  'with a prefix': '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:rect/></s:svg>',
};

describe('invalid logos are rejected quickly with 400 and nothing is stored', () => {
  const all = { ...HOSTILE_RASTERS, ...OTHER_FILES };

  test('covers more than ninety files', () => {
    expect(Object.keys({ ...all, ...HOSTILE_SVGS }).length).toBeGreaterThan(90);
  });

  test.each([
    ['pictures', HOSTILE_RASTERS],
    ['files', OTHER_FILES],
    ['drawings', HOSTILE_SVGS],
  ])('rejects invalid %s', async (_kind, files: Record<string, Buffer | string>) => {
    const before = await fingerprint(service().owner);
    for (const [what, file] of Object.entries(files)) {
      const startMs = performance.now();
      const reply = await upload(file).answer();
      expect([what, reply.status, reply.code]).toEqual([what, 400, 'logo_not_acceptable']);
      expect([what, reply.errors[0]?.field]).toEqual([what, 'logo']);
      // Generous, because the first upload starts the sanitiser.
      expect([what, performance.now() - startMs < 8_000]).toEqual([what, true]);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });
});

describe('disallowed SVG content', () => {
  const GONE: Record<string, string> = {
    'a script': '<script>alert("EVIL")</script>',
    'a script by reference': '<script href="http://EVIL.example/x.js"/>',
    'a script tag in mixed case': '<ScRiPt>alert("EVIL")</ScRiPt>',
    'a script in CDATA': '<script><![CDATA[alert("EVIL")]]></script>',
    'a script in a title': '<title><script>alert("EVIL")</script></title>',
    'a script in a style': '<title><style><img src="x" onerror="alert(&quot;EVIL&quot;)"/></style></title>',
    'a script in a desc': '<desc><img src="x" onerror="EVIL"/></desc>',
    'markup hidden in a style': '<style>&lt;/style&gt;&lt;script&gt;EVIL&lt;/script&gt;</style>',
    onload: '<rect width="1" onload="EVIL"/>',
    onclick: '<g onclick="EVIL"><rect/></g>',
    onbegin: '<animate onbegin="EVIL" attributeName="x"/>',
    'a handler in mixed case': '<rect OnLoad="EVIL"/>',
    'an animated href': '<a><animate attributeName="href" values="javascript:EVIL"/><rect/></a>',
    'a set href': '<a><set attributeName="xlink:href" to="javascript:EVIL"/><rect/></a>',
    'a javascript: link': '<a href="javascript:EVIL"><rect/></a>',
    'a javascript: xlink': '<a xlink:href="javascript:EVIL"><rect/></a>',
    'a javascript: link with a tab in it': '<a href="java&#9;script:EVIL"><rect/></a>',
    'an external link': '<a href="https://EVIL.example/"><rect/></a>',
    'a page': '<foreignObject><iframe src="http://EVIL.example"/></foreignObject>',
    'an XHTML page':
      '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><b>EVIL</b></body></foreignObject>',
    'an iframe': '<iframe src="http://EVIL.example"/>',
    'an embed': '<embed src="http://EVIL.example"/>',
    'an object': '<object data="http://EVIL.example"/>',
    'a form': '<form action="http://EVIL.example"><input/></form>',
    'a base': '<base href="http://EVIL.example"/>',
    'a meta': '<meta http-equiv="refresh" content="0;url=http://EVIL.example"/>',
    'an external use': '<use href="http://EVIL.example/x.svg#y"/>',
    'a use of a data URL': '<use href="data:image/svg+xml;base64,RVZJTA==#EVIL"/>',
    'an external picture': '<image href="http://EVIL.example/x.png"/>',
    'an external picture by xlink': '<image xlink:href="//EVIL.example/x.png"/>',
    'a picture that is an svg': '<image href="data:image/svg+xml,EVIL"/>',
    'a picture that is html': '<image href="data:text/html,EVIL"/>',
    'a picture with invalid data': `<image href="data:image/png;base64,${Buffer.from('EVIL').toString('base64')}"/>`,
    'a filter with an external image': '<filter id="f"><feImage href="http://EVIL.example/x.png"/></filter>',
    'a style that imports': '<style>@import "http://EVIL.example/x.css";</style>',
    'a style with an escaped import': '<style>@\\69mport "EVIL";</style>',
    'a style that loads': '<style>rect{fill:url(http://EVIL.example/x.svg#y)}</style>',
    'a style that loads a font': '<style>@font-face{font-family:EVIL;src:url(x)}</style>',
    'a style with an escaped url': '<style>rect{fill:u\\72l(EVIL)}</style>',
    'a style with an image-set': '<style>rect{background:image-set("EVIL.png" 1x)}</style>',
    'an attribute that loads': '<rect fill="url(http://EVIL.example/x.svg#y)"/>',
    'an attribute that loads in quotes': `<rect fill="url('//EVIL.example/x.svg')"/>`,
    'a style attribute that loads': '<rect style="fill:url(EVIL.svg#x)"/>',
    'a style attribute of javascript': '<rect style="behavior:url(EVIL);-moz-binding:url(EVIL)"/>',
    'a mask that loads': '<rect mask="url(EVIL.svg#m)"/>',
    'an unknown namespace': '<g xmlns:evil="http://EVIL.example"><evil:x/></g>',
    'a comment': '<!-- EVIL -->',
    'an unknown element': '<EVIL/>',
    'an unknown attribute': '<g data-x="EVIL" evil="EVIL"><rect/></g>',
    'a filter':
      '<filter id="EVIL"><feTurbulence numOctaves="100000000"/></filter><g filter="url(#EVIL)"><rect/></g>',
    'a filter by style':
      '<g style="filter:url(#EVIL);fill:#fff"><rect/></g><style>.a{filter:blur(9999px EVIL)}</style>',
    'a pattern': '<pattern id="EVIL" width="1" height="1"><rect/></pattern>',
    'a marker': '<marker id="EVIL"><rect/></marker>',
    'an animation': '<rect><animate attributeName="x" values="EVIL" repeatCount="indefinite"/></rect>',
    'an animation by style': '<style>.a{animation:EVIL 1ms infinite}</style>',
    'an audio': '<audio src="http://EVIL.example/x.mp3"/>',
    'a video': '<video src="http://EVIL.example/x.mp4"/>',
    'a handler element': '<handler type="text/javascript">EVIL</handler>',
    'an html link': '<link rel="stylesheet" href="http://EVIL.example/x.css"/>',
    'a math': '<math><annotation-xml encoding="text/html"><img src="EVIL"/></annotation-xml></math>',
  };

  test.each(Object.entries(GONE))('removes %s', async (_what, inside) => {
    const shown = await stored(svg(inside));
    const text = shown.bytes.toString();
    // Each of the drawings contains it: EVIL, or its base64 text.
    const active =
      /EVIL|RVZJTA|script|iframe|foreignObject|javascript|\bon\w+=|@import|http:\/\/(?!www\.w3\.org)/i;
    expect(text).not.toMatch(matching(active, inside));
    // The rest of the drawing remains.
    expect(text).toContain('<rect width="10" height="10"/>');
    expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  });

  test('removes the XML declaration, byte order mark and comments around the root element', async () => {
    const shown = await stored(
      `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- Made with EVIL -->\n${svg()}\n<!-- x -->\n`,
    );
    expect(shown.bytes.toString()).toBe(svg());
  });
});

describe('allowed SVG content', () => {
  test.each([
    [
      'shapes',
      '<path d="M1 1h2v2z" transform="translate(1 2) rotate(45)" stroke-width=".5"/><ellipse rx="1" ry="2"/>',
    ],
    ['words', '<text x="1" y="2" font-family="Arial" font-size="3">Fish &amp; Chips é 😀</text>'],
    [
      'gradients',
      '<defs><linearGradient id="g" gradientUnits="userSpaceOnUse"><stop offset="0" stop-color="#fff"/></linearGradient></defs><rect fill="url(#g)"/>',
    ],
    ['clips', '<clipPath id="c"><circle r="5"/></clipPath><g clip-path="url(#c)"><rect/></g>'],
    ['styles', '<style>.a{fill:#0A7D5C;stroke:url(#g)}</style><rect class="a" style="opacity:.5"/>'],
    ['masks', '<mask id="m"><rect width="5" height="5" fill="#fff"/></mask><g mask="url(#m)"><rect/></g>'],
    ['titles', '<title>Island Express</title><desc>A logo</desc>'],
  ])('keeps %s', async (_what, inside) => {
    expect((await stored(svg(inside))).bytes.toString()).toBe(svg(inside));
  });

  test('keeps a small embedded picture without its metadata and removes a large one', async () => {
    const href = (picture: Buffer) => `data:image/png;base64,${picture.toString('base64')}`;
    const withTexts = png(2, 2, [pngChunk('tEXt', Buffer.from('x\0y'))]);
    const shown = await stored(svg(`<image href="${href(withTexts)}" width="2"/>`));
    expect(shown.bytes.toString()).toBe(svg(`<image href="${href(png())}" width="2"/>`));
    const bomb = HOSTILE_RASTERS['a PNG of 9,000 x 9,000'] ?? Buffer.alloc(0);
    const without = await stored(svg(`<image href="${href(bomb)}"/>`));
    expect(without.bytes.toString()).toBe(svg('<image/>'));
  });

  test('sanitises the largest allowed drawing within ten seconds while other requests are served', async () => {
    const path = '<path d="M0 0h1"/>';
    const large = svg(path.repeat(4_990));
    const began = performance.now();
    const cleaning = upload(large).answer();
    let slowestMs = 0;
    const upTo = { isDone: false };
    void cleaning.then(() => (upTo.isDone = true));
    while (!upTo.isDone) {
      const startMs = performance.now();
      await api.anonymous.getHealth().ok();
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
    }
    expect((await cleaning).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(10_000);
    // On the event loop it would block for the whole time.
    expect(slowestMs).toBeLessThan(500);
  });

  test('rejects uploads beyond the queue with 503 and Retry-After, and responds to every request', async () => {
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, n) => upload(svg(`<circle r="${n}"/>`)).answer()),
    );
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(8);
    for (const reply of replies.filter(({ status }) => status === 503))
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('logo path', () => {
  test('responds 404 in the standard envelope if it is unknown', async () => {
    const { rows } = await service().owner.query<{ hash: string }>(
      'select content_hash as hash from courier_logos where courier_id = $1',
      [IEX],
    );
    const hash = rows[0]?.hash ?? '';
    await upload(svg('<circle r="1"/>')).ok();
    const current = pathOfReply(await upload(svg('<circle r="2"/>')).answer());
    const file = current.split('/')[2] ?? '';
    for (const path of [
      `logos/${IEX}/${hash}.svg`,
      `logos/${IEX}/${'0'.repeat(64)}.svg`,
      current.replace('.svg', '.png'),
      `logos/${DEMO.couriers.HRB}/${file}`,
      `logos/01930a3e-0000-7000-8000-000000000000/${file}`,
    ]) {
      expect(await show(path)).toMatchObject({
        status: 404,
        body: { status: 'fail', code: 'logo_not_found' },
      });
    }
  });

  test("responds 404 on another tenant's host", async () => {
    const path = pathOfReply(await upload(png(6, 6)).answer());
    expect((await show(path)).status).toBe(200);
    expect(await show(path, { host: DEMO.hosts.two })).toMatchObject({
      status: 404,
      body: { code: 'logo_not_found' },
    });
  });

  test('rejects other methods with 405', async () => {
    const path = pathOfReply(await upload(png(6, 6)).answer());
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const reply = await service().request(method, `/${path}`);
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, 'GET']);
    }
  });
});

test('ignores form fields and files that the contract does not define', async () => {
  const path = pathOfReply(await upload(png(7, 7)).answer());
  const form = {
    courier_id: DEMO.couriers.HRB,
    api_key: 'f'.repeat(64),
    other: { file: svg(), name: 'other.svg' },
    logo: { file: png(7, 7) },
  };
  const reply = await api.as('iex').updateCourierSettings(multipart(form)).answer();
  expect(pathOfReply(reply)).toBe(path);
});

test.each<[string, FormFields]>([
  ['two logos', { logo: [{ file: png() }, { file: png() }] }],
  ['a NUL in a name', { 'lo\0go': 'x', logo: { file: png() } }],
  ['a field called constructor', { ['constructor']: 'x', logo: { file: png() } }],
  ['a field called __proto__', { ['__proto__']: 'x', logo: { file: png() } }],
  ['a NUL in a text', { other: 'a\0b', logo: { file: png() } }],
  ['a text of 17 KiB', { other: 'x'.repeat(17 * 1024), logo: { file: png() } }],
])('rejects %s in a form with 400', async (_what, form) => {
  const before = await fingerprint(service().owner);
  expect(await api.as('iex').updateCourierSettings(multipart(form)).status()).toBe(400);
  expect(await fingerprint(service().owner)).toEqual(before);
});

test.each<[string, FormFields]>([
  ['30 fields', Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, 'x']))],
  ['5 files', { other: Array.from({ length: 5 }, () => ({ file: 'x' })) }],
])('rejects %s in a form with 413', async (_what, form) => {
  expect(await api.as('iex').updateCourierSettings(multipart(form)).status()).toBe(413);
});

describe('malformed form', () => {
  const whole = multipartBody({ logo: { file: png(), name: 'logo.png', type: 'image/png' } });
  const send = async (body: Buffer, type = MULTIPART_TYPE) =>
    api
      .as('iex')
      .updateCourierSettings(body, { headers: { 'content-type': type } })
      .answer();

  test('truncated anywhere is rejected with 400 and stores nothing', async () => {
    await upload(jpeg()).ok();
    const before = await fingerprint(service().owner);
    for (let length = 0; length < whole.length - 3; length += 7) {
      const reply = await send(whole.subarray(0, length));
      expect([length, reply.status]).toEqual([length, 400]);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('without a boundary or with another one is rejected with 400', async () => {
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=other']) {
      const reply = await send(whole, type);
      expect([type, reply.status, reply.body['status']]).toEqual([type, 400, 'fail']);
    }
  });

  const MUTATIONS = rounds(60, 2_000);

  test(`mutated ${MUTATIONS} times is stored or rejected, but never a 500`, async () => {
    const seen = new Map<number, number>();
    const sendMutated = async (n: number) => {
      const broken = Buffer.from(whole);
      for (let change = 0; change <= n % 3; change += 1) {
        broken[(n * 7919 + change * 104_729) % broken.length] = (n * 31 + change * 17) % 256;
      }
      const { status } = await send(broken);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    };
    for (let n = 0; n < MUTATIONS; n += 10)
      await Promise.all(Array.from({ length: 10 }, (_, more) => sendMutated(n + more)));
    expect([...seen.keys()].filter((status) => ![200, 400, 413].includes(status))).toEqual([]);
    expect(seen.get(400)).toBeGreaterThan(MUTATIONS / 10);
  }, 120_000);

  test('leaves no temporary file', async () => {
    const written = watchSpoolFiles();
    try {
      await upload(png()).ok();
      await upload('no logo').refused(400, 'logo_not_acceptable');
      await send(whole.subarray(0, -30));
      await send(Buffer.concat([whole.subarray(0, -4), Buffer.from(`\r\n--${BOUNDARY}x`)]));
      await until(async () => spoolFiles().length === 0, 5_000);
      expect(new Set(written.names).size).toBeGreaterThanOrEqual(4);
    } finally {
      written.stop();
    }
  });
});
