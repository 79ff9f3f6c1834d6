// Uploads and downloads a stream, and prints by how much the memory of this process has grown at most.
const [, , folder, baseUrl, size] = process.argv;
const { CrossdockClient } = await import(`${folder}/dist/index.js`);
const client = new CrossdockClient({ baseUrl, token: 'token' });

async function* chunks(bytes) {
  const chunk = Buffer.alloc(64 * 1024, 'a');
  for (let left = bytes; left > 0; left -= chunk.length) yield chunk;
}

async function copy(bytes) {
  await client.customers.upload({ file: chunks(bytes) });
  const file = await client.packages.exportCsv({});
  let downloaded = 0;
  for await (const chunk of file.stream()) downloaded += chunk.length;
  return downloaded;
}

// The first requests load what later ones use.
await client.customers.upload({ file: chunks(1024 * 1024) });
const before = process.resourceUsage().maxRSS;
const downloaded = await copy(Number(size));
const grownBytes = (process.resourceUsage().maxRSS - before) * 1024;
process.stdout.write(JSON.stringify({ downloaded, grownBytes }));
