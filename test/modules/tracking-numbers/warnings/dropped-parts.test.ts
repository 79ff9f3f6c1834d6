import { expect, test } from '@jest/globals';
import { readScan } from '../../../../src/modules/tracking-numbers/public.js';
import { warningOf } from './warning-of.js';

// A pre-alert of a text says which part of it was not used. A scan of it is read as before.

const UPS = '1Z999AA10123456784';
const WRONG = '1Z999AA10123456785';
const FEDEX = '757447467189';
const USPS = '9400113154171380164968';
const GS = '\u001d';

test.each([
  ['INT9\n12', 'INT9'],
  ['INT9\r12', 'INT9'],
  ['INT9\tA', 'INT9'],
  [`${UPS} ${WRONG}`, UPS],
  [`${WRONG} ${UPS}`, UPS],
  [`${UPS}\n12`, UPS],
  [`${UPS}, ${WRONG}`, UPS],
  [`#${UPS} (2 kg)`, UPS],
  [`https://www.ups.com/track?tracknum=${UPS},${WRONG}`, UPS],
  [`Order 123456 ${UPS}`, UPS],
])('%j is stored as %s, with a warning that shows both', (sent, stored) => {
  expect(readScan(sent).text).toBe(stored);
  const { code, message } = warningOf(sent) ?? {};
  expect(code).toBe('unlikely_number');
  expect(message).toContain(`stored as ${stored}, which is only a part`);
  expect(message).toContain(JSON.stringify(sent));
});

test.each([
  UPS,
  ` ${UPS}\r\n`,
  `]C1${UPS}`,
  `]C1${UPS}\r]C1${UPS}\r`,
  `*${UPS}*`,
  UPS.toLowerCase(),
  `${UPS}\n${UPS}`,
  `${UPS} ${UPS}`,
  `UPS ${UPS}`,
  `Tracking number: ${FEDEX} thanks`,
  'UPS 1Z 999 AA1 01 2345 6784',
  'FedEx 7574 4746 7189.',
  `UPS\n${UPS}`,
  `https://wwwapps.ups.com/tracking/tracking.cgi?InquiryNumber1=${UPS}&TypeOfInquiryNumber=T`,
  `42033166${GS}${USPS}`,
  `42033166${USPS}`,
  `42033166\r${USPS}\r`,
  '1Z999<GS>AA10123456784',
  'lcl-1\rLCL-1\r',
  'LC L-1',
])('nothing of %j is lost, so it has no warning', (sent) => {
  expect(warningOf(sent)).toBeUndefined();
});
