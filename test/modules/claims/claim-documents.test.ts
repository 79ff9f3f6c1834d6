import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import {
  CUSTOMERS,
  insertClaim,
  insertDocument,
  makeParcels,
  newNumber,
} from '../../support/builders/parcels.js';
import { multipart } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { countWaiting } from '../../support/harness/meanwhile.js';
import { until } from '../../support/service/processes.js';
import { jpeg, jpegSegment, png } from '../../support/readers/pictures.js';

const { IEX, HRB } = DEMO.couriers;
/** Each has a place of its own in the queue for long work. */
const USERS = ['iex', 'warehouse', 'manager', 'admin'];
const MAX_BYTES = 5 * 1024 * 1024;

const { api, db, service } = withService();
const owner = () => service().owner;
const newClaim = (courierId: string = IEX, status: 'open' | 'refused' = 'open') =>
  insertClaim(owner(), { courierId, trackingNumber: newNumber(), status });

const pdf = (text = newNumber(), bytes = 0) =>
  Buffer.concat([Buffer.from(`%PDF-1.7\n%${text}\n`), Buffer.alloc(bytes), Buffer.from('\n%%EOF\n')]);

const add = (claim_id: string, file: Buffer, as = 'iex') =>
  api.as(as).addClaimDocument(multipart({ claim_id, document: { file } }));
const get = (document_id: string, as = 'iex') => api.as(as).getClaimDocument({ document_id });

const documentsOf = async (claimId: string) =>
  (await api.as('iex').listParcelClaims({ limit: 100 }).ok()).data.find(
    ({ claim_id }) => claim_id === claimId,
  )?.documents;

describe('a document of a claim', () => {
  test.each([
    ['a PDF', pdf(), 'application/pdf', 'pdf'],
    [
      'a PDF with other bytes before its header',
      Buffer.concat([Buffer.from('\r\n'), pdf()]),
      'application/pdf',
      'pdf',
    ],
    ['a JPG', jpeg(), 'image/jpeg', 'jpg'],
    ['a PNG', png(), 'image/png', 'png'],
  ])('may be %s, which the courier and staff get as a download', async (_, file, media_type, extension) => {
    const claim = await newClaim();
    const { data } = await add(claim, file).created();
    expect(data).toEqual({
      document_id: expect.any(String),
      media_type,
      bytes: file.length,
      created_at: expect.any(String),
    });
    expect(await documentsOf(claim)).toEqual([data]);
    for (const as of ['iex', 'warehouse', 'manager']) {
      const { bytes, headers } = await get(data.document_id, as).ok();
      expect(bytes).toEqual(file);
      expect(headers.get('content-type')).toBe(media_type);
      expect(headers.get('content-disposition')).toBe(
        `attachment; filename="claim-${data.document_id}.${extension}"`,
      );
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('that is a picture is stored without the place where it was taken', async () => {
    const place = jpegSegment(0xe1, 'Exif GPS 25.79 N 80.28 W');
    const { data } = await add(await newClaim(), jpeg(2, 2, [place])).created();
    const { bytes } = await get(data.document_id).ok();
    expect(bytes).toEqual(jpeg());
    expect(bytes.includes('GPS')).toBe(false);
  });

  test('is stored once, however often and by whomever it is sent', async () => {
    const [claim, file] = [await newClaim(), pdf()];
    const ids = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, n) => (await add(claim, file, n % 2 ? 'iex' : 'warehouse').created()).data.document_id,
      ),
    );
    expect(new Set(ids).size).toBe(1);
    expect(await documentsOf(claim)).toHaveLength(1);
    expect(
      (await db.auditOf(claim)).filter(({ action }) => action === 'parcel_claim.document_added'),
    ).toHaveLength(1);
  });

  test('is one of at most five, also of many at once', async () => {
    const claim = await newClaim();
    const replies = await Promise.all(
      Array.from({ length: 28 }, (_, n) => add(claim, pdf(), USERS[n % USERS.length]).answer()),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(new Set(replies.filter(({ status }) => status !== 201).map(({ code }) => code))).toEqual(
      new Set(['too_many_claim_documents']),
    );
    expect(await documentsOf(claim)).toHaveLength(5);
    await add(claim, pdf(), 'warehouse').refused(409, 'too_many_claim_documents');
  });

  test('waits for one that is being added, and is counted after it', async () => {
    const claim = await newClaim();
    for (let count = 0; count < 4; count += 1) await add(claim, pdf()).created();
    const other = await owner().connect();
    try {
      await other.query('begin');
      await other.query('select from parcel_claims where id = $1 for no key update', [claim]);
      await insertDocument(other, claim);
      const reply = add(claim, pdf()).answer();
      await Promise.race([
        reply,
        until(async () => (await countWaiting(owner())) > 0).catch(() => undefined),
      ]);
      await other.query('commit');
      expect((await reply).code).toBe('too_many_claim_documents');
    } finally {
      other.release(true);
    }
  });

  test('is shown to staff beside the parcel that the claim fits', async () => {
    const number = newNumber();
    const packageId = await makeParcels(service()).receive(number);
    const claim = await insertClaim(owner(), { courierId: IEX, trackingNumber: number });
    const { data } = await add(claim, pdf()).created();
    const prealert = await makeParcels(service()).announce('HRB', number);
    const parcels = (await api.as('warehouse').listUnknownParcels({ limit: 100 }).ok()).data;
    const parcel = parcels.find(({ package_id }) => package_id === packageId);
    expect(
      parcel?.claimants.map(({ claim_id, prealert_id, documents }) => [claim_id, prealert_id, documents]),
    ).toEqual([
      [claim, null, [data]],
      [null, prealert, []],
    ]);
  });

  test('is recorded in the audit log, without its content', async () => {
    const claim = await newClaim();
    const { data } = await add(claim, pdf()).created();
    expect((await db.auditOf(claim)).at(-1)).toMatchObject({
      action: 'parcel_claim.document_added',
      actor_id: DEMO.users.iex,
      after: {
        document_id: data.document_id,
        media_type: 'application/pdf',
        content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
  });

  test('is deleted with its claim', async () => {
    const claim = await newClaim();
    const { data } = await add(claim, pdf()).created();
    await owner().query('delete from parcel_claims where id = $1', [claim]);
    await get(data.document_id).refused(404, 'claim_document_not_found');
  });

  test('says nothing about the claimed parcel', async () => {
    const number = newNumber();
    await makeParcels(service()).receive(number);
    const claims = [await insertClaim(owner(), { courierId: IEX, trackingNumber: number }), await newClaim()];
    const [right, wrong] = await Promise.all(claims.map((claim) => add(claim, pdf('same')).created()));
    const shape = ({ data, message }: NonNullable<typeof right>) => ({
      ...data,
      message,
      document_id: '',
      created_at: '',
    });
    if (!right || !wrong) throw new Error('A document was not stored.');
    expect(shape(right)).toEqual(shape(wrong));
  });
});

describe('a document is refused', () => {
  test.each([
    [
      'a text',
      Buffer.from('A receipt'),
      'The document is neither a PDF nor a JPG nor a PNG. Send one of these.',
    ],
    [
      'an SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'The document is neither a PDF nor a JPG nor a PNG. Send one of these.',
    ],
    [
      'a PDF that was cut off',
      pdf().subarray(0, 20),
      'The document is neither a PDF nor a JPG nor a PNG. Send one of these.',
    ],
    [
      'a PNG that was cut off',
      png().subarray(0, 40),
      'The PNG is damaged, animated or of a kind that browsers cannot show. Save the document again.',
    ],
    [
      'a JPG that was cut off',
      jpeg().subarray(0, 40),
      'The JPG is damaged, animated or of a kind that browsers cannot show. Save the document again.',
    ],
  ])('if it is %s', async (_, file, message) => {
    const claim = await newClaim();
    const { errors } = await add(claim, file).refused(400, 'claim_document_not_acceptable');
    expect(errors).toMatchObject([{ field: 'document', message }]);
    expect(await documentsOf(claim)).toEqual([]);
  });

  test('if it is larger than 5 MiB', async () => {
    const claim = await newClaim();
    const spare = pdf('', 0).length;
    await add(claim, pdf('', MAX_BYTES - spare)).created();
    await add(claim, pdf('', MAX_BYTES - spare + 1)).refused(413, 'body_too_large');
  });

  test('if it is missing, or claim_id is', async () => {
    const claim_id = await newClaim();
    expect(
      (await api.as('iex').addClaimDocument(multipart({ claim_id })).refused(400, 'validation_failed'))
        .errors,
    ).toMatchObject([{ field: 'document', code: 'required' }]);
    expect(
      (
        await api
          .as('iex')
          .addClaimDocument(multipart({ document: { file: pdf() } }))
          .refused(400, 'validation_failed')
      ).errors,
    ).toMatchObject([{ field: 'claim_id', code: 'required' }]);
  });

  test('if the claim is decided', async () => {
    const claim = await newClaim(IEX, 'refused');
    await add(claim, pdf()).refused(400, 'parcel_claim_decided');
    await add(claim, pdf(), 'warehouse').refused(400, 'parcel_claim_decided');
  });

  test('if the claim belongs to another courier or tenant, or does not exist, with the same answer', async () => {
    const claim = await newClaim(HRB);
    const document = await insertDocument(owner(), claim);
    for (const as of ['iex', 'two/admin']) {
      const [foreign, missing] = [
        await add(claim, pdf(), as).answer(),
        await add(DEMO.users.admin, pdf(), as).answer(),
      ];
      expect([foreign.status, foreign.code, foreign.message]).toEqual([
        404,
        'parcel_claim_not_found',
        missing.message,
      ]);
      const [read, unknown] = [await get(document, as).answer(), await get(DEMO.users.admin, as).answer()];
      expect([read.status, read.code, read.message]).toEqual([
        404,
        'claim_document_not_found',
        unknown.message,
      ]);
    }
    await get(document, 'hrb').ok();
    await api.anonymous.getClaimDocument({ document_id: document }).refused(401, 'token_missing');
  });
});

test('a further claim of the number keeps the documents of the claim that it changes', async () => {
  const tracking_number = newNumber();
  const claim = await insertClaim(owner(), { courierId: IEX, trackingNumber: tracking_number });
  await add(claim, pdf()).created();
  const { data } = await api.as('iex').claimParcel({ tracking_number, user_code: CUSTOMERS.IEX }).created();
  expect(data.claim_id).toBe(claim);
  expect(await documentsOf(claim)).toHaveLength(1);
});
