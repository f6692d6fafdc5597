import { folded } from './words.js'

/**
 * Words that say little about a wish, such as those of "please add an option to". Of scripts that put no spaces between
 * words, and of Korean, they are pairs of letters.
 */
const COMMON = `a an and any are as at be but by can could for from have how in into is it its me my not of on or our please so
  that the their them then there this to us via want was we when where which while will wish with would you your
  add allow ability able bug enhancement feat feature idea improvement issue like make need needs option possibility possible
  proposal request should suggestion support
  aber als am an auch auf aus bei bitte das dass dem den der des die ein eine einem einen einer es für fur hätte ich im ist
  kann können mehr mit nach nicht oder sein sich sie sind soll über um und von vom wäre wenn wie wir wird zu zum zur
  funktion möglich möglichkeit verbesserung vorschlag wunsch
  al como con cuando de del el en es esta este favor hay la las lo los más mas no para pero poder por que se ser si sin
  sobre su sus un una uno y ya añadir
  mejora opción posibilidad posible solicitud sugerencia
  au aux avec ce ces cette dans des du elle est et être il ils je la le les leur mais ne nous ou où par pas plus pour
  pouvoir que qui sa se ses son sont sur une vous ajouter
  amélioration demande fonctionnalité possibilité possible veux souhaite
  ao aos da das do dos e em foi mais mas na nas no nos o os ou pela pelo quando são sem seu sua também uma
  adicionar melhoria opção possibilidade possível sugestão
  а без бы было быть в во вы для до его ее если есть еще же за и из или их к как когда который ли между мне можно на надо не
  нет но нужно о об он они от по под при про с сделать со также то только у уже чтобы что это
  добавить добавление возможность возможности предложение поддержка реализовать реализация функционал функция хотелось
  希望 支持 添加 增加 建议 功能 可以 能否 是否 请添 请增 新增 需求 能够 一个 这个 问题 关于
  주세 세요 해주 니다 습니 겠습 어요 해요 합니 하는 하게 으로 에서 있게 으면 면좋 좋겠 추가 기능 要望 対応 機能 追加`

/** Without accents, as words are compared. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(folded(COMMON).split(/\s+/))
