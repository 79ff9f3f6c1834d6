import { cycle } from './seeded-random.js';

export type Person = { firstName: string; lastName: string; email: string };

// The lengths of the two lists are coprime, so that the first 4,020 pairs are distinct.
const FIRST_NAMES = [
  'Marcia, John, Keisha, Andre, Shanice, Devon, Latoya, Omar, Tanesha, Winston',
  'Simone, Errol, Nadine, Kemar, Yolande, Curtis, Renée, Delroy, Camille, Rohan',
  'Anjali, Dwayne, Tricia, Garfield, Shelly-Ann, Leroy, Monique, Rajiv, Claudette, Sheldon',
  'Kerry-Ann, Anthony, Zoë, Trevor, Indira, Desmond, Patrice, Nigel, Alicia, Ricardo',
  'Jacinth, Kwame, Sherene, Barrington, Giselle, Akeem, Lorna, Darnell, Priya, Fitzroy',
  "Marlene, Jerome, Abigail, D'Andre, Vanessa, Clive, Oneika, Hopeton, Ingrid, José",
].flatMap((line) => line.split(', '));
const LAST_NAMES = [
  'Campbell, Williams, Brown, Mohammed, Clarke, Ramkissoon, Grant, Joseph, Bailey, Persaud',
  "Alleyne, Smith, Reid, O'Garro, Charles, Henry, Singh, Thompson, Baptiste, Gordon",
  'Greenidge, Francis, Powell, St. Hill, Morgan, Ali, Walcott, Stewart, Boodram, Richards',
  'Lewis, Forde, Maharaj, Edwards, McKenzie, Brathwaite, Nelson, Phillip, Hinds, Samuels',
  'Wright, De Freitas, Pierre, Johnson, Ramdin, Blackwood, Sobers, Gonsalves, Dixon, Holder',
  'Peña, Davis, Lashley, Robinson, Bishop, Tulloch, Rampersad, Chambers, Best, Lawrence',
  'James, Marshall, Cumberbatch, Fraser, Hoyte, Seepersad, Wilson',
].flatMap((line) => line.split(', '));

/** Returns the n-th person, counted from 0. */
export function person(n: number): Person {
  const firstName = cycle(FIRST_NAMES, n);
  const lastName = cycle(LAST_NAMES, n * 11);
  return { firstName, lastName, email: `${mailbox(firstName)}.${mailbox(lastName)}@mail.example` };
}

function mailbox(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[^A-Za-z-]/g, '')
    .toLowerCase();
}
