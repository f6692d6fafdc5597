import { folded, WORDS_AND_RUNS } from './words.js'
import { stemOf } from './stem.js'

/**
 * Words of wishes about software that mean about the same, in English, German, French, Spanish, Portuguese, Russian,
 * Chinese and Japanese: a line for each meaning. Their order means nothing, and a word may be in several lines.
 */
const MEANINGS = `
dark night theme darkmode nightmode dunkel dunkelmodus dunkles nachtmodus sombre nuit oscuro nocturno noche escuro noturno 深色 暗色 暗黑 夜间 黑暗 黑色 ダーク 夜間 темный тёмная ночной ночь тьма
light bright hell helles clair claro 浅色 亮色 ライト светлый светлая
theme skin style appearance thema design aussehen erscheinungsbild thème apparence tema apariencia aparência 主题 皮肤 外观 テーマ 外観 тема оформление внешний вид скин стиль дизайн
color colour farbe farben couleur couleurs color colores cor cores 颜色 配色 カラー цвет цвета цветной раскраска
shortcut hotkey keyboard keybinding keystroke tastenkürzel tastatur tastenkombination kurzbefehl raccourci clavier atajo teclado atalho 快捷键 热键 键盘 ショートカット キーボード горячие клавиша клавиши клавиатура сочетание хоткей
login signin logon auth authentication authenticate sso oidc oauth saml ldap anmelden anmeldung einloggen authentifizierung connexion authentification identification ingresar acceso autenticación inicio entrar autenticação 登录 登陆 认证 单点 ログイン 認証 サインイン вход войти логин авторизация авторизоваться аутентификация
logout signout abmelden déconnexion cerrar sair 登出 注销 退出 ログアウト выход выйти разлогиниться
login account konto compte cuenta conta 账号 账户 アカウント аккаунт учетная учётная запись
password passphrase passwort kennwort motdepasse contraseña clave senha 密码 口令 パスワード пароль пароли
2fa mfa totp otp twofactor webauthn passkey yubikey zweifaktor 双因素 两步 二段階 多要素 パスキー двухфакторная двухфакторный
search find lookup query suche suchen finden recherche rechercher chercher trouver búsqueda buscar buscador busca pesquisa pesquisar procurar 搜索 查找 检索 搜寻 検索 探す поиск искать найти поисковый находить
filter filtern filtre filtrer filtro filtrar 筛选 过滤 フィルタ フィルター 絞り込み 絞込 фильтр фильтры фильтрация отбор фильтровать
sort order sorting ordering reorder sortieren sortierung reihenfolge trier tri ordre ordenar orden ordem ordenação 排序 顺序 並び 並べ 順序 ソート 並び替え сортировка сортировать порядок упорядочить
export download exportieren herunterladen exporter télécharger exportar descargar baixar 导出 下载 エクスポート ダウンロード 出力 書き出し экспорт экспортировать скачать выгрузка выгрузить скачивание выгружать
import upload importieren hochladen importer téléverser importar subir carregar enviar 导入 上传 インポート アップロード 取り込み 読み込み импорт импортировать загрузить загрузка загружать
backup restore sicherung sichern wiederherstellen sauvegarde sauvegarder restaurer respaldo copia restaurar cópia 备份 还原 恢复 バックアップ 復元 бэкап бекап резервная копия копирование восстановление восстановить
sync roaming synchronize synchronise synchronization synchronisieren synchronisierung abgleich synchroniser synchronisation sincronizar sincronización sincronização 同步 同期 синхронизация синхронизировать
notification notify alert reminder push benachrichtigung benachrichtigen hinweis erinnerung meldung notification notifier alerte rappel notificación notificar alerta aviso recordatorio notificação lembrete 通知 提醒 推送 消息 リマインダー お知らせ уведомление уведомления оповещение оповещения уведомлять оповещать напоминание рассылка
mail email smtp imap inbox mails courriel courrier correo 邮件 邮箱 メール почта письмо письма почтовый мейл емейл
message chat messaging dm nachricht messagerie discussion mensaje mensagem conversa 消息 聊天 会话 メッセージ チャット сообщение сообщения чат переписка диалог
mobile phone android ios iphone smartphone handy telefon téléphone móvil teléfono celular 手机 移动 安卓 スマホ モバイル 携帯 мобильный мобильная телефон смартфон андроид
tablet ipad tablette tableta 平板 タブレット планшет
desktop windows macos mac linux bureau escritorio 桌面 客户端 デスクトップ рабочий стол десктоп компьютер
browser chrome firefox safari navigateur navegador 浏览器 ブラウザ браузер
extension plugin addon add-on module erweiterung greffon complemento extensión extensão 插件 扩展 プラグイン 拡張 расширение плагин дополнение модуль аддон
language translation translate locale i18n localization l10n sprache übersetzung übersetzen langue traduction traduire idioma traducción traducir tradução traduzir língua 语言 翻译 多语言 国际化 汉化 中文 言語 翻訳 多言語 язык языки перевод локализация переводить мультиязычность
image picture photo screenshot bild bilder foto image photo imagen foto captura imagem 图片 图像 照片 截图 画像 写真 スクリーンショット картинка картинки изображение изображения фото фотография скриншот фотоальбом
video movie film vídeo 视频 影片 動画 ビデオ видео видеоролик фильм
audio sound volume music ton lautstärke klang musik son musique sonido música som áudio 音频 声音 音量 音乐 音声 音量 音楽 サウンド звук звуковой аудио музыка громкость
file document attachment datei dokument anhang anlage fichier pièce archivo documento adjunto arquivo anexo 文件 附件 文档 ファイル 添付 файл файлы документ вложение прикрепить вложения
folder directory ordner verzeichnis dossier répertoire carpeta directorio pasta diretório 文件夹 目录 フォルダ フォルダー ディレクトリ папка папки каталог директория
copy paste clipboard duplicate clone kopieren einfügen zwischenablage duplizieren copier coller presse-papiers dupliquer copiar pegar duplicar portapapeles colar 复制 粘贴 剪贴板 剪切板 拷贝 コピー 貼り付け クリップボード 複製 копировать копия вставить вставка дублировать скопировать клонировать клонирование буфер дубликат
undo redo revert rückgängig annuler deshacer desfazer 撤销 撤回 恢复 元に戻す 取り消し отменить отмена вернуть
delete remove erase trash clear löschen entfernen papierkorb supprimer effacer enlever corbeille eliminar borrar quitar papelera excluir apagar remover lixeira 删除 移除 清空 清除 回收 削除 消去 ゴミ箱 удалить удаление удалять убрать очистить корзина
edit change modify rename update bearbeiten ändern umbenennen modifier éditer changer renommer modification editar cambiar modificar renombrar alterar renomear mudar 编辑 修改 更改 重命名 改名 編集 変更 редактировать редактирование изменить изменение менять править переименовать сменить смена
create new add neu erstellen anlegen hinzufügen créer nouveau nouvelle ajout crear nuevo nueva agregar criar novo nova adicionar 新建 创建 新增 作成 新規 追加 создать создание новый новая создавать
save speichern abspeichern enregistrer guardar salvar 保存 储存 сохранить сохранение сохранять
autosave automatic automatically auto automatisch automatique automatiquement automático automáticamente automaticamente 自动 自動 автоматически автоматический авто автоматическая
remember memory persist persistent restore retain keep merken behalten mémoriser retenir recordar lembrar 记住 记忆 保持 記憶 覚え запомнить запоминать помнить
setting settings option preference config configuration configure configurable einstellung einstellungen konfiguration konfigurieren paramètre paramètres réglage réglages préférence configuration configuración ajustes preferencia configuração opções preferência 设置 配置 选项 偏好 設定 オプション настройка настройки параметр параметры опция настроить конфигурация
default standard vorgabe défaut predeterminado defecto padrão 默认 缺省 デフォルト 既定 初期 умолчание умолчанию стандартный
custom customize customise customizable personalize anpassen anpassbar benutzerdefiniert individuell personnaliser personnalisable personnalisé personalizar personalizado personalizada 自定义 定制 カスタム カスタマイズ кастомный свой собственный произвольный настраиваемый пользовательский
hide show visible invisible visibility ausblenden einblenden anzeigen verbergen verstecken masquer cacher afficher ocultar mostrar esconder ver exibir 隐藏 显示 可见 展示 非表示 表示 隠す скрыть показать скрывать показывать отображение отображать видимость спрятать
disable enable toggle turn switch deaktivieren aktivieren abschalten ausschalten einschalten désactiver activer desactivar activar desativar ativar habilitar deshabilitar 禁用 启用 关闭 开启 开关 無効 有効 切り替え включить выключить отключить включение отключение переключатель переключать
list liste listado lista 列表 清单 リスト 一覧 список списки перечень
table grid tabelle raster tableau grille tabla cuadrícula tabela grade 表格 网格 表 テーブル グリッド таблица сетка таблицы
column spalte colonne columna coluna 列 栏 カラム колонка столбец колонки
row line zeile ligne fila línea linha 行 строка строки ряд
button knopf schaltfläche bouton botón botão 按钮 按键 ボタン кнопка кнопки
menu menü context rightclick kontextmenü menú 菜单 右键 メニュー 右クリック меню контекстное
tab tabs reiter onglet onglets pestaña aba abas 标签页 选项卡 タブ вкладка вкладки таб
window popup dialog modal fenster fenêtre boîte ventana janela diálogo 窗口 弹窗 对话框 ウィンドウ ダイアログ ポップアップ окно окна попап всплывающий диалоговое
fullscreen maximize vollbild pleinécran 全屏 最大化 全画面 フルスクリーン полноэкранный весь экран
sidebar panel pane panes seitenleiste leiste barre latérale lateral barra painel 侧边栏 侧栏 边栏 サイドバー パネル панель сайдбар боковая
scroll scrolling scrollen blättern défiler défilement desplazar desplazamiento rolar rolagem 滚动 滑动 スクロール прокрутка скролл прокручивать листать
zoom scale size resize magnify vergrößern größe skalieren taille agrandir tamaño escala ampliar tamanho 缩放 大小 尺寸 放大 字号 拡大 縮小 サイズ ズーム масштаб размер увеличить масштабирование
font typeface fontsize schrift schriftart schriftgröße police caractères fuente letra fonte 字体 字號 フォント 文字 шрифт шрифты
icon symbol logo favicon icône icono ícone 图标 アイコン иконка значок логотип
emoji emoticon sticker reaction smiley réaction emoticono reacción reação 表情 贴纸 絵文字 リアクション スタンプ эмодзи смайл смайлик реакция стикер
avatar profile picture profilbild profil perfil 头像 资料 个人 プロフィール アバター аватар профиль аватарка
user account member benutzer konto nutzer mitglied utilisateur compte usuario cuenta miembro usuário conta 用户 账号 账户 帐号 帐户 成员 会员 ユーザー アカウント 利用者 пользователь пользователи юзер участник учетка
group team organization workspace gruppe mannschaft organisation groupe équipe grupo equipo equipe organización organização 群组 分组 团队 组织 グループ チーム 組織 группа группы команда организация сообщество
permission role access right rights privilege berechtigung rechte rolle zugriff autorisation droits rôle permiso permisos rol acceso permissão permissões papel 权限 角色 授权 権限 ロール право права доступ роль роли разрешение
admin administrator elevated elevate root sudo moderator owner verwalter administrateur administrador 管理员 管理 管理者 администратор админ модератор админка
share sharing publish teilen freigeben freigabe veröffentlichen partager partage publier compartir publicar compartilhar 分享 共享 发布 共有 シェア 公開 поделиться общий расшарить публикация опубликовать публиковать
link url hyperlink deeplink verknüpfung verweis lien enlace vínculo 链接 网址 リンク ссылка ссылки адрес
tag label category group tags kategorie schlagwort etikett étiquette catégorie etiqueta categoría marcador categoria 标签 分类 类别 分组 タグ ラベル カテゴリ カテゴリー тег теги метка категория категории рубрика
comment reply answer thread kommentar antwort antworten commentaire réponse répondre comentario respuesta responder comentário resposta 评论 回复 留言 コメント 返信 комментарий комментарии ответ ответить обсуждение
vote like upvote favorite favourite star bookmark abstimmen stimme favorit lesezeichen favori favoris signet votar favorito marcador 投票 点赞 收藏 书签 喜欢 お気に入り いいね ブックマーク голос лайк избранное голосование закладка нравится рейтинг оценка
pin sticky anheften épingler fijar anclar fixar 置顶 固定 ピン 固定 закрепить прикрепить закрепление
archive archiv archiver archivar arquivar 归档 存档 アーカイブ архив архивировать
calendar schedule kalender terminplan planen calendrier agenda planifier calendario programar calendário agendar 日历 日程 计划 定时 カレンダー スケジュール 予定 予約 календарь расписание план планирование запланировать
date time datetime timezone timestamp datum uhrzeit zeit zeitzone heure fecha hora horario data horário fuso 日期 时间 时区 日付 時刻 時間 タイムゾーン дата время часовой
duration timer countdown dauer durée duración duração 计时 时长 倒计时 タイマー таймер длительность
week weekday monday woche wochentag semaine semana 星期 周 曜日 週 неделя понедельник
map location gps karte standort ort carte emplacement mapa ubicación localização 地图 位置 定位 地図 位置 карта место геолокация
price cost pricing tariff preis kosten tarif strompreis prix coût precio costo preço custo 价格 费用 成本 料金 価格 цена стоимость тариф
currency money payment invoice währung zahlung rechnung devise paiement facture moneda pago factura moeda pagamento fatura 货币 支付 发票 付款 通貨 支払い 請求 валюта деньги оплата платеж платёж счет
statistics stats chart graph report analytics dashboard statistik diagramm auswertung bericht statistique graphique rapport tableau estadística gráfico informe reporte estatística relatório 统计 图表 报表 报告 统计图 統計 グラフ レポート статистика график отчет отчёт аналитика диаграмма
history log changelog verlauf protokoll historique journal historial registro histórico 历史 记录 日志 履歴 ログ история журнал лог логи лента
version release upgrade update aktualisierung aktualisieren mise à jour actualización actualizar versión atualização atualizar versão 版本 升级 更新 バージョン アップデート версия обновление обновить релиз обновлять
performance slow speed fast lag cpu memory langsam schnell leistung geschwindigkeit lent lenteur rapide vitesse lento rápido velocidad rendimiento velocidade desempenho 性能 速度 卡顿 慢 优化 遅い 高速 速度 パフォーマンス медленно скорость производительность быстрый тормозит быстро ускорить
crash freeze hang abort absturz stürzt plantage plante bloqueo cierra trava travando fecha 崩溃 闪退 卡死 死机 クラッシュ 落ちる フリーズ 強制終了 падение вылет зависает вылетает зависание падает
error fail failed failure broken bug exception fehler fehlgeschlagen kaputt défektuös erreur échec échoue bogue error fallo falla erro falha 错误 报错 失败 异常 出错 エラー 失敗 不具合 バグ 例外 ошибка ошибки баг сбой неисправность
blank empty white missing leer fehlt fehlen vide manque manquant vacío falta vazio 空白 白屏 缺少 缺失 空 真っ白 пустой пусто отсутствует
install installation installer setup installieren installateur instalar instalación instalador instalação 安装 インストール установка установить инсталляция
start startup launch boot autostart starten démarrer démarrage lancement iniciar arranque inicialização 启动 开机 起動 запуск старт автозапуск запустить
close quit exit minimize tray schließen beenden minimieren fermer quitter réduire cerrar salir minimizar fechar 关闭 退出 最小化 托盘 閉じる 終了 最小化 закрыть закрытие свернуть выход
connect connection network offline internet wifi verbinden verbindung netzwerk connexion réseau hors-ligne conexión conectar red conexão rede 连接 网络 离线 断线 接続 ネットワーク オフライン подключение сеть интернет соединение подключить офлайн оффлайн
proxy socks http vpn stellvertreter mandataire 代理 プロキシ прокси
server host selfhost selfhosted backend serveur servidor 服务器 サーバー サーバ сервер хостинг
docker container image kubernetes compose helm conteneur contenedor 容器 镜像 コンテナ контейнер докер
api webhook endpoint rest graphql integration schnittstelle integrieren intégration integración integração 接口 集成 対接 連携 апи интеграция интегрировать вебхук
database sql postgres mysql sqlite datenbank base données datos dados 数据库 データベース база данных бд
cloud storage disk space drive s3 webdav nextcloud dropbox speicher speicherplatz stockage espace almacenamiento espacio armazenamento nuvem 云 存储 空间 网盘 网盘 クラウド ストレージ 保存先 облако хранилище диск
encrypt encryption security secure verschlüsselung sicherheit verschlüsseln chiffrement sécurité cifrado seguridad criptografia segurança 加密 安全 暗号化 セキュリティ шифрование безопасность защита
privacy private gdpr privat datenschutz privé confidentialité privado privacidad privacidade 隐私 私密 非公開 プライバシー приватность приватный конфиденциальность личный закрытый
block ban mute blacklist blocklist ignore blockieren sperren stummschalten bloquer ignorer bannir bloquear silenciar ignorar 屏蔽 拉黑 黑名单 静音 忽略 ブロック ミュート блокировка заблокировать бан игнор забанить
spam captcha abuse pourriel 垃圾 验证码 スパム спам капча
print printer pdf drucken drucker imprimer impression imprimante imprimir impresión impresora impressão impressora 打印 印刷 プリント печать распечатать принтер
camera webcam kamera caméra cámara câmera 相机 摄像头 カメラ камера
scan scanner qr qrcode barcode strichcode 扫码 扫描 二维码 条码 スキャン バーコード сканирование сканер
markdown richtext editor formatting wysiwyg éditeur 编辑器 富文本 格式 エディタ エディター 書式 マークダウン редактор разметка визуальный
code syntax highlight highlighting snippet hervorheben coloration syntaxique resaltado realce 代码 高亮 コード ハイライト シンタックス код подсветка
template vorlage modèle gabarit plantilla modelo 模板 テンプレート ひな形 шаблон шаблоны
drag drop dnd ziehen glisser déposer arrastrar soltar 拖拽 拖动 拖放 ドラッグ ドロップ перетаскивание перетащить
select selection multiselect choose pick auswählen auswahl mehrfachauswahl sélectionner sélection choisir seleccionar selección elegir selecionar seleção escolher 选择 选中 多选 勾选 選択 複数選択 выбор выбрать выделить выделение выбирать
multiple several many bulk batch all mass mehrere alle viele massen plusieurs tous masse múltiple varios muchos lote múltiplos vários 批量 多个 全部 一括 複数 全て まとめて несколько множественный массовый множество все массово
random shuffle zufällig zufall aléatoire hasard aleatorio aleatória 随机 ランダム シャッフル случайный рандом
pause paused snooze maintenance downtime pausieren wartung suspendre entretien pausar mantenimiento manutenção 暂停 维护 停机 一時停止 メンテナンス пауза приостановить
vertical horizontal portrait landscape orientation senkrecht waagerecht hochformat querformat paysage apaisado retrato paisagem 横屏 竖屏 横向 纵向 縦 横 向き
split divide teilen aufteilen geteilt diviser dividir 分屏 分割 拆分 разделить разделение
display screen monitor bildschirm anzeige écran moniteur pantalla tela monitor 屏幕 显示器 屏 画面 ディスプレイ モニター экран монитор дисплей
repeat loop recurring recurrence wiederholen wiederkehrend wiederholung répéter récurrent boucle repetir recurrente recorrente 重复 循环 周期 繰り返し リピート ループ повтор повторять повторение
next previous back forward navigation nächste vorherige zurück suivant précédent retour siguiente anterior próximo voltar 下一 上一 返回 跳转 次へ 前へ 戻る 移動 следующий предыдущий назад вперед навигация
preview vorschau aperçu prévisualisation vista previa prévia 预览 プレビュー предпросмотр превью просмотр
position place location move stelle verschieben déplacer mover 位置 移动 移動 配置 позиция место расположение переместить перемещение
background wallpaper hintergrund fond fondo fundo 背景 壁纸 壁紙 фон обои
input field text eingabe feld texteingabe saisie champ entrada campo 输入 输入框 文本 入力 テキスト 欄 поле ввод текст
suggestion autocomplete complete completion vorschlag vervollständigung complétion autocompletado autocompletar sugerencia 补全 自动完成 补齐 提示 補完 候補 подсказка автодополнение
spell spelling spellcheck grammar rechtschreibung orthographe ortografía ortografia 拼写 语法 スペル орфография правописание
number count counter amount limit anzahl zähler nombre compteur limite número cantidad límite contador quantidade 数量 数字 计数 限制 上限 件数 制限 数 количество число счетчик счётчик лимит ограничение номер
maximum minimum range bereich grenze plage rango 最大 最小 范围 範囲 максимум минимум диапазон
battery charge charging charger power energy akku batterie laden ladung strom batterie charge recharge énergie batería carga energía bateria carregamento energia 电池 充电 电量 充電 バッテリー 電池 電力 батарея зарядка заряд
solar pv photovoltaic überschuss solaire placas 太阳能 光伏 太陽光
car vehicle ev wallbox auto fahrzeug voiture véhicule coche vehículo carro veículo 汽车 车辆 车 машина автомобиль авто
sensor device thermostat gerät geräte appareil périphérique dispositivo aparelho 设备 传感器 デバイス 機器 端末 устройство датчик прибор
subscribe subscription follow feed rss abonnieren abonnement folgen abonner suivre suscribir suscripción seguir assinar assinatura 订阅 关注 購読 フォロー 登録 подписка подписаться следить подписчик
invite invitation einladen einladung inviter invitar invitación convidar convite 邀请 招待 приглашение пригласить инвайт
reset zurücksetzen réinitialiser restablecer reiniciar redefinir 重置 重设 リセット 初期化 сброс сбросить
restart reboot reload refresh neustart neuladen aktualisieren redémarrer recharger rafraîchir reiniciar recargar refrescar recarregar 重启 刷新 重新加载 再起動 再読み込み 更新 リロード перезапуск перезагрузить обновить
documentation docs help guide wiki dokumentation hilfe anleitung aide documentación ayuda guía documentação ajuda 文档 帮助 教程 说明 ドキュメント ヘルプ 説明 документация справка инструкция помощь
test testing trial testen essai tester prueba probar teste testar 测试 试用 テスト тест тестирование проверка
keyboardlayout layout anordnung disposition diseño disposición layout 布局 排版 レイアウト 配置
accessibility a11y screenreader contrast barrierefrei barrierefreiheit accessibilité accesibilidad acessibilidade 无障碍 アクセシビリティ
game play player spiel spielen jeu jouer juego jugar jogo jogar 游戏 玩家 播放 播放器 ゲーム 再生 プレイヤー игра игрок играть
subtitle caption untertitel sous-titre subtítulo legenda 字幕
voice speech speak tts sprache stimme vorlesen voix vocal voz 语音 朗读 声音 音声 読み上げ 声 речь голосовой озвучка
model ai llm gpt openai chatgpt claude ki modell ia modèle modelo 模型 大模型 人工智能 モデル нейросеть модель ии
token key apikey secret schlüssel clé jeton llave chave 密钥 令牌 トークン キー 鍵 токен ключ
domain dns certificate ssl tls https zertifikat certificat certificado 域名 证书 ドメイン 証明書 домен сертификат
ip address ipv6 ipv4 adresse dirección endereço 地址 アドレス
node cluster replica knoten nœud nodo nó 节点 集群 ノード
process task job queue worker aufgabe tâche tarea tarefa cola fila 任务 队列 进程 タスク ジョブ задача процесс очередь задание
project projekt projet proyecto projeto 项目 プロジェクト проект проекты
issue ticket problem anliegen problème problema 问题 課題 問題 проблема тикет задача
question poll survey quiz umfrage frage sondage question encuesta pregunta enquete pergunta 问卷 调查 提问 アンケート 質問 вопрос опрос
note memo notes notiz notizen remarque nota anotação 笔记 备注 便签 メモ ノート заметка запись заметки
book read reader reading buch lesen lire lecture livre libro leer lectura livro ler leitura 阅读 书籍 书 小说 読書 本 книга читать чтение прочитать
download queue torrent magnet 下载 种子 ダウンロード
contact address-book phonebook kontakt contacts contacto contato 联系人 通讯录 連絡先 контакт контакты
weather temperature wetter temperatur météo température clima temperatura 天气 温度 天気 気温 погода температура
light lamp beleuchtung licht lampe lumière luz 灯 灯光 照明 ライト
product article shop cart artikel produkt produit boutique panier producto tienda carrito produto loja 商品 产品 购物车 商品 製品 товар товары магазин статья
stock inventory lager bestand stock inventario estoque 库存 在庫
supplier customer client third party kunde lieferant fournisseur cliente proveedor fornecedor 客户 供应商 顧客 仕入先
`

/** Scripts that put no spaces between words, of which a line has parts of a text. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u

/** The words of each meaning: stems, or parts of a text without spaces. */
const LINES: readonly (readonly string[])[] = MEANINGS.trim()
  .split('\n')
  .map((line) => [...new Set((folded(line).match(WORDS_AND_RUNS) ?? []).map(stemOf))])

const byStem = new Map<string, number[]>()
const parts: { part: string; meaning: number }[] = []
for (const [meaning, words] of LINES.entries())
  for (const word of words)
    if (UNSPACED.test(word)) parts.push({ part: word, meaning })
    else byStem.set(word, [...(byStem.get(word) ?? []), meaning])

const NONE: readonly number[] = []

/** A word of so many letters may be made of two, of which one has a meaning and the other is not too short. */
const LEAST_OF_TWO = 9
const LEAST_MEANT = 5
const LEAST_OTHER = 3

/** What a word between spaces may mean, by its stem: itself, or the words that it begins or ends with. */
export const meaningsOf = (stem: string): readonly number[] =>
  byStem.get(stem) ?? (stem.length < LEAST_OF_TWO ? NONE : insideOf(stem))

function insideOf(stem: string): number[] {
  const found = new Set<number>()
  for (let at = LEAST_OTHER; at <= stem.length - LEAST_OTHER; at++) {
    if (at >= LEAST_MEANT) for (const meaning of byStem.get(stem.slice(0, at)) ?? NONE) found.add(meaning)
    if (stem.length - at >= LEAST_MEANT) for (const meaning of byStem.get(stem.slice(at)) ?? NONE) found.add(meaning)
  }
  return [...found]
}

/** What parts of a text without spaces mean. */
export const meaningsIn = (run: string): readonly { part: string; meaning: number }[] =>
  UNSPACED.test(run) ? parts.filter(({ part }) => run.includes(part)) : []

/** The words that have a meaning: stems, or parts of a text without spaces. */
export const wordsMeaning = (meaning: number): readonly string[] => LINES[meaning] ?? []
