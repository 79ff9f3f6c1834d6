import { describe, expect, test } from '@jest/globals';
import { looksLikeNumber, meaningOf, placeText } from '../../../console/src/putaway/place.js';

describe('what a scan means in Put away', () => {
  test.each([
    ['A-12', 'A-12'],
    [' Shelf B ', 'Shelf B'],
    [']C1A-12', 'A-12'],
    ['*A-12*', 'A-12'],
    ['*', '*'],
  ])('%j is the place %j', (scan, place) => {
    expect(placeText(scan)).toBe(place);
    expect(meaningOf(scan, undefined, [])).toEqual({ kind: 'place', place });
  });

  test.each(['1Z999AA10123456784', '9400111899223197428490', 'TBA000000000000', '7K3M9QX', 'IEX-100001-22'])(
    '%s looks like a number, so it is no place before the person says so',
    (number) => {
      expect(looksLikeNumber(number)).toBe(true);
      expect(meaningOf(number, undefined, [])).toEqual({ kind: 'doubt' });
      expect(meaningOf(number, 'A-12', [])).toEqual({ kind: 'parcel' });
    },
  );

  test('after a place, a known place and a short text are the next place, and everything else is a parcel', () => {
    const known = ['Cold room 1', 'A-12', '01-02-03-04'];
    const after = (scan: string) => meaningOf(scan, 'A-12', known);
    expect(after('Cold room 1')).toEqual({ kind: 'place', place: 'Cold room 1' });
    expect(after('cold ROOM 1')).toEqual({ kind: 'place', place: 'Cold room 1' });
    expect(after('01-02-03-04')).toEqual({ kind: 'place', place: '01-02-03-04' });
    expect(after('B-3')).toEqual({ kind: 'place', place: 'B-3' });
    expect(after('a-12')).toEqual({ kind: 'place', place: 'A-12' });
    expect(after('Cold room 2')).toEqual({ kind: 'parcel' });
    expect(after('PCL12N000001')).toEqual({ kind: 'parcel' });
  });

  test('a known place is one, also if it looks like a number', () => {
    expect(meaningOf('01-02-03-04', undefined, ['01-02-03-04'])).toEqual({
      kind: 'place',
      place: '01-02-03-04',
    });
  });
});
