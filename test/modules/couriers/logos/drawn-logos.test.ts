import { describe, expect, test } from '@jest/globals';
import { matching } from '../../../support/assertions/matching.js';
import { png, pngChunk, svg } from '../../../support/readers/pictures.js';
import { withService } from '../../../support/fixture/with-service.js';
import { HOSTILE_RASTERS } from './hostile-rasters.js';
import { makeLogoUploads } from './logo-uploads.js';

const fixture = withService();
const { api } = fixture;
const { upload, stored } = makeLogoUploads(fixture);

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
