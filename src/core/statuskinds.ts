/** What a roadmap says of its posts, in the order of their way: they wait, are planned, are worked on, are done, or will not be done. */
export const STATUS_KINDS = ['open', 'planned', 'active', 'done', 'declined'] as const
export type StatusKind = (typeof STATUS_KINDS)[number]

/** What is still to come. */
export const UNFINISHED: readonly StatusKind[] = ['open', 'planned', 'active']

/** The inputs of a list of posts that decide whether it shows finished posts. */
interface Asked {
  sort?: string | undefined
  statusKind?: readonly string[] | undefined
  roadmapId?: string | null | undefined
  roadmapIds?: readonly string[] | undefined
  query?: string | undefined
  view?: string | undefined
  mine?: boolean | undefined
  voted?: boolean | undefined
  following?: boolean | undefined
}

/**
 * Whether a list of posts hides those that are done or declined. Lists sorted by `trending` do, because such posts would
 * stay at the top. A list shows them if it filters by status, words, or the caller's own posts, or uses a saved view.
 */
export const hidesFinished = ({
  sort,
  statusKind,
  roadmapId,
  roadmapIds = [],
  query = '',
  view = '',
  mine,
  voted,
  following,
}: Asked): boolean =>
  // prettier-ignore
  sort === 'trending' &&
  statusKind === undefined &&
  !roadmapId &&
  roadmapIds.length === 0 &&
  `${query}${view}`.trim() === '' &&
  ![mine, voted, following].includes(true)

/** Whole words of names, in the languages of the pages. The first that fits decides: "nicht geplant" is declined. */
const WORDS: readonly (readonly [StatusKind, string])[] = [
  ['declined', `declined, rejected, wont do, wont fix, will not do, not planned, closed, cancelled, canceled;
    abgelehnt, verworfen, nicht geplant, geschlossen;
    rechazado, rechazada, descartado, descartada, no planificado, no previsto, cerrado, cancelado;
    refusé, refusée, rejeté, rejetée, décliné, écarté, non retenu, non prévu, non planifié, fermé, annulé, abandonné;
    recusado, recusada, rejeitado, rejeitada, descartada, não planejado, não planeado, fechado;
    却下, 見送り, 対応しない, 対応予定なし, 中止; مرفوض, مرفوضة, غير مخطط, مغلق, ملغى, ملغي`],
  ['open', `under review, in review, under consideration, open, idea, ideas, backlog, not started;
    in prüfung, in pruefung, offen, idee, ideen, nicht begonnen;
    en revisión, en evaluación, en estudio, abierto, pendiente, sin empezar;
    à l’étude, en examen, en cours d’examen, à l’examen, ouvert, idée, idées, à étudier;
    em análise, em avaliação, em revisão, aberto, pendente, não iniciado;
    検討中, 確認中, 審査中, 未着手, 受付中, アイデア; قيد المراجعة, قيد الدراسة, مفتوح, أفكار`],
  ['planned', `planned, accepted, approved, next, soon, todo, to do;
    geplant, als nächstes, als naechstes, demnächst, demnaechst;
    planificado, planificada, planeado, previsto, prevista, aceptado, aprobado, próximamente;
    prévu, prévue, planifié, planifiée, accepté, approuvé, bientôt, à venir;
    planejado, planejada, aprovado, aceito, a seguir, em breve;
    予定, 計画中, 計画済み, 対応予定, 次; مخطط, مخطط له, مقبول, قريبا, قريبًا`],
  ['active', `in progress, in development, started, underway, building, wip;
    in arbeit, in entwicklung, in umsetzung, begonnen;
    en curso, en progreso, en desarrollo, en proceso, empezado; en cours, en développement, en chantier, commencé;
    em andamento, em progresso, em desenvolvimento, em curso, iniciado;
    進行中, 対応中, 開発中, 作業中, 実装中; قيد التنفيذ, قيد التطوير, قيد العمل, جار العمل, جارٍ العمل`],
  ['done', `done, complete, completed, shipped, released, live, launched;
    erledigt, fertig, umgesetzt, veröffentlicht, veroeffentlicht;
    hecho, completado, completada, terminado, lanzado, publicado, disponible;
    terminé, terminée, fait, livré, livrée, publié, disponible, réalisé;
    concluído, concluída, feito, entregue, lançado, disponível;
    完了, 完成, 対応済み, 実装済み, リリース済み, 公開済み; مكتمل, مكتملة, تم, منجز, منفذ, منشور`],
] // prettier-ignore

/** A name as words with single spaces between them. */
const wordsOf = (name: string): string =>
  name.normalize('NFKC').toLowerCase().replaceAll(/['’]/g, '').replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim() // prettier-ignore

const KINDS = WORDS.map(([kind, words]) => [kind, words.split(/[,;]/).map((each) => wordsOf(each))] as const)

/** What a new roadmap says where nobody chose it, by its name: "🚀 Shipped" is done. What no word tells is open. */
export function guessedKind(name: string): StatusKind {
  const words = wordsOf(name)
  return KINDS.find(([, some]) => some.some((each) => ` ${words} `.includes(` ${each} `)))?.[0] ?? 'open'
}
