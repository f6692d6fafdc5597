import { Argument, type Command } from 'commander'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { write } from './lib/terminal/terminal.js'

// Each script asks the program what the words may become. So it knows the commands of the version that is installed.

const BASH = `# bash completion for feedbackctl
_feedbackctl() {
  local word text
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS=$'\\t' read -r word text; do
    if [[ $word == :files ]]; then
      compopt -o default
    else
      [[ $word == *[^A-Za-z0-9_.,:@%/+=-]* ]] && printf -v word %q "$word"
      COMPREPLY+=("$word")
    fi
  done < <("\${COMP_WORDS[0]}" __complete -- "\${words[@]//\\\\/}" 2>/dev/null)
}
complete -F _feedbackctl feedbackctl
`

const ZSH = `#compdef feedbackctl
_feedbackctl() {
  local line
  local -a lines found
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    if [[ $line == :files ]]; then
      _files
      return
    elif [[ $line == *$'\\t'* ]]; then
      found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    elif [[ -n $line ]]; then
      found+=("\${line//:/\\\\:}")
    fi
  done
  (( \${#found} )) && _describe -V feedbackctl found
}
if [[ \${funcstack[1]} == _feedbackctl ]]; then
  _feedbackctl "$@"
else
  compdef _feedbackctl feedbackctl
fi
`

const FISH = `# fish completion for feedbackctl
function __feedbackctl_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in ($before[1] __complete -- $before[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c feedbackctl -f -a '(__feedbackctl_complete)'
`

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH }

export function register(command: Command, cli: Cli): void {
  explain(command, {
    own: [],
    examples: [
      'completion bash > ~/.local/share/bash-completion/completions/feedbackctl',
      'completion zsh > ~/.zfunc/_feedbackctl',
      'completion fish > ~/.config/fish/completions/feedbackctl.fish',
    ],
    notes: [
      'The script completes commands, options and values. It also completes what is on the site: boards, roadmaps, tags, posts (by number or slug), users and roles. In zsh the folder must be in fpath before compinit runs. To try it in this shell: source <(feedbackctl completion bash)',
    ],
  })
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .action(async (shell: string) => write(cli.terminal, SCRIPTS[shell] ?? ''))
}
