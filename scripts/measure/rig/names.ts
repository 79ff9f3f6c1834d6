import { seededRandom, type SeededRandom } from '../../../fixtures/demo/values/seeded-random.js';

export type Name = { first: string; last: string };

const words = (text: string): string[] => text.trim().split(/\s*,\s*/);
const joined = (stems: string, ends: string): string[] =>
  stems.split(/,\s*/).flatMap((stem) => words(ends).map((end) => stem + end));

// Most frequent first: the frequency of a name falls with its position, as in real populations.
const FIRSTS = words(`
  John, Maria, Michael, Keisha, David, Marcia, Andre, José, Shanice, Anthony, Jean-Pierre, Anjali, Renée, Devon, Mary-Ann,
  Latoya, Omar, Carlos, Tanesha, Winston, Simone, Errol, Nadine, Kemar, Sarah, Yolande, Curtis, Delroy, Camille, Rohan,
  Christopher, Dwayne, Tricia, Garfield, Shelly-Ann, Leroy, Monique, Rajiv, Claudette, Sheldon, Kerry-Ann, Trevor, Zoë,
  Indira, Desmond, Patrice, Nigel, Alicia, Ricardo, Jacinth, Kwame, Sherene, Barrington, Giselle, Akeem, Lorna, Darnell,
  Priya, Fitzroy, Marlene, Jerome, Abigail, D'Andre, Vanessa, Clive, Oneika, Hopeton, Ingrid, Elizabeth, Marsha, Philip,
  Catherine, Jonathan, Kathryn, Sean, Shawn, Stephen, Steven, Geoffrey, Jeffrey, Ann, Anne, Jon, Hélène, François, Chloé,
  Jesús, Ángel, María José, Sofía, Andrés, Joaquín, Beatriz, Guadalupe, Esperanza, Rosario, Dolores, Alejandro, Fernando,
  Guillermo, Rodrigo, Santiago, Ximena, Thijs, Pieter, Johannes, Willemijn, Annelies, Joost, Maarten, Sanne, Femke,
  Krishna, Lakshmi, Deepak, Sunita, Vishnu, Ravindra, Savitri, Shivani, Kavita, Mahendra, Narine, Parbatie, Ramesh,
  Suresh, Dhanraj, Indrani, Étienne, Océane, Mathilde, Benoît, Aurélie, Thérèse, Gérard, Josiane, Solange, Marie-Claire,
  Jean-Baptiste, Anne-Marie, Ti-Jean, Zachary, Alexander, Alexandra, Benjamin, Samantha, Nathaniel, Gabrielle, Theodore,
  Penelope, Montgomery, Rosalind, Cornelius, Ezekiel, Jedidiah, Obadiah, Zephaniah, Tyrone, Lamar, Jermaine, Shaniqua,
  Taneisha, Nyoka, Yanique, Orville, Ransford, Neville, Clifton, Everton, Lennox, Carlton, Beverley, Hyacinth, Icilda
`);

const COMMON_LASTS = words(`
  Williams, Brown, Smith, Campbell, Mohammed, Clarke, Joseph, Singh, Charles, Rodríguez, Grant, Bailey, Persaud, Pierre,
  García, Johnson, Alleyne, Reid, O'Garro, Henry, Thompson, Baptiste, Gordon, Greenidge, Francis, Powell, St. Hill,
  Morgan, Ali, Walcott, Stewart, Boodram, Richards, Lewis, Forde, Maharaj, Edwards, McKenzie, Brathwaite, Nelson,
  Phillip, Hinds, Samuels, Wright, De Freitas, Ramdin, Blackwood, Sobers, Gonsalves, Dixon, Holder, Peña, Davis, Lashley,
  Robinson, Bishop, Tulloch, Rampersad, Chambers, Best, Lawrence, James, Marshall, Cumberbatch, Fraser, Hoyte, Seepersad,
  Wilson, Martínez, González, Hernández, López, Pérez, Sánchez, Ramírez, Núñez, Muñoz, Ortiz, Castillo, Jean-Louis,
  Saint-Juste, Désir, Lafontaine, Toussaint, Théodore, van der Berg, de Jong, Jansen, Bakker, Visser, Meijer, Dijkstra,
  O'Brien, O'Connor, McDonald, MacDonald, McIntosh, D'Aguiar, D'Oliveira, Da Silva, Dos Santos, Smyth, Browne, Clark,
  Thomson, Reed, Philips, Phillips, Stuart, Edmonds, Nielsen, Castle-Grant, Wong-Shue, Chin-Loy, Lee Lum, Hosein, Hussain
`);

// The other last names are composed of typical parts.
const RARE_LASTS = [
  joined(
    'Ash, Barn, Black, Brad, Burn, Carl, Chat, Clay, Craw, Dal, Dun, East, Fair, Far, Gar, Green, Hal, Hart, Hather, Hamp, Kings, Lang, Lind, Mar, Mel, Nor, Oak, Pen, Rad, Red, Rock, Sand, Shel, Stan, Stock, Strat, Swin, Thorn, Wake, Wal, Wen, West, Whit, Wind, Wood',
    'bridge, bury, by, combe, croft, den, dale, field, ford, gate, ham, hurst, land, ley, man, more, ridge, shaw, ton, wick, well, wood, worth',
  ),
  joined(
    'Álvar, Benít, Domíngu, Enríqu, Estév, Fernánd, Gutiérr, Jimén, Lóp, Márqu, Méndr, Ordóñ, Quiñón, Ramír, Suár, Vásqu, Velásqu, Yáñ, Ibáñ, Galv, Cort, Chav, Nar, Mont, Agu, Bern, Cabr, Delg, Espin, Fig, Guerr, Herr, Les, Mald, Palac, Quint, Riv, Salaz, Tol, Vald, Zap',
    'ez, era, illo, ano, eda, aga, osa',
  ),
  joined(
    'Ram, Kis, Bis, Deo, Dhan, Gan, Har, Jag, Jai, Lach, Mah, Nar, Parb, Raj, Sat, Seer, Shiv, Suk, Sur, Tul, Ud, Vish, Bal, Chand, Bhag, Gopi, Hem, Indar, Krishn, Maru',
    'narine, deen, kissoon, lal, persad, oop, singh, sammy, sarran, nauth, gobin, oodan, ram, essar, mohan, awan, raj, dass, kumar, pal',
  ),
  joined(
    'Beau, Belle, Bon, Clair, Champ, Château, Des, Du, Fon, Gran, La, Le, Mal, Mont, Neuf, Pré, Roche, Saint-, Val, Ville',
    'bois, brun, champs, court, fleur, fort, lieu, marche, mond, neuve, pré, roche, rosier, vallée, veau, ville, vigne',
  ),
  joined(
    'van der , van de , de , van , ter ',
    'Linden, Meer, Veen, Wal, Broek, Bosch, Heuvel, Horst, Kamp, Laan, Molen, Plas, Poel, Velde, Ven, Vliet, Water, Werf, Zanden, Zee, Steen, Brink, Dijk, Graaf, Haan, Jager, Koning, Ruiter, Vries, Wit',
  ),
  joined(
    'Adeb, Ako, Ama, Bole, Chuk, Dio, Ebo, Fola, Kuf, Mens, Nkr, Oko, Olu, Osei, Qua, Sey, Tetteh, Umo, Yebo, Zuber',
    'ayo, wu, mah, ji, uor, di, nde, ofi, ro, sah',
  ),
].flat();

/**
 * Returns `count` names. The result is deterministic. Frequencies are skewed as in real populations; one in
 * eight people has two last names or a second first name.
 */
export function makeNames(count: number, seed = 7): Name[] {
  const dice = seededRandom(seed);
  const lasts = [...COMMON_LASTS, ...shuffled(RARE_LASTS, dice)];
  const pickFirst = skewed(FIRSTS, 0.75, dice);
  const pickLast = skewed(lasts, 0.8, dice);
  return Array.from({ length: count }, () => {
    const first = dice.whole(1, 16) === 1 ? `${pickFirst()} ${pickFirst()}` : pickFirst();
    const last = dice.whole(1, 16) === 1 ? `${pickLast()}-${pickLast()}` : pickLast();
    return { first, last };
  });
}

/** Picks the n-th item with a probability that falls with a power of n. */
function skewed(list: string[], power: number, dice: SeededRandom): () => string {
  let total = 0;
  const sums = list.map((_, index) => (total += (index + 1) ** -power));
  return () => {
    const thrown = (dice.whole(0, 1 << 30) / (1 << 30)) * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < thrown) low = middle + 1;
      else high = middle;
    }
    return list[low] ?? '';
  };
}

function shuffled(list: string[], dice: SeededRandom): string[] {
  return list
    .map((item) => ({ item, at: dice.whole(0, 1 << 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
