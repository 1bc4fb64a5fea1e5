//! Templates of the shapes that models come with, and hostile ones.

use std::fs;

use super::*;

/// A template with these special tokens.
fn template(text: &str) -> Template {
    let tokens = [("bos_token", "<s>"), ("eos_token", "</s>")].map(|(name, text)| (name.to_owned(), text.to_owned()));
    Template { path: "m/chat_template.jinja".into(), text: text.to_owned(), tokens: tokens.to_vec() }
}

fn prompt(text: &str) -> String {
    template(text).render().unwrap_or_else(|error| panic!("{error}: {text}")).prompt("Hi {{ x }}").into_text()
}

/// Shapes of well-known templates, by what of the language they lean on.
const SHAPES: &[(&str, &str, &str)] = &[
    (
        "ChatML, StarChat",
        "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}\
         {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
        "<|im_start|>user\nHi {{ x }}<|im_end|>\n<|im_start|>assistant\n",
    ),
    (
        "Qwen2.5-Coder",
        r#"{%- if tools %}
    {{- '<|im_start|>system\n' }}{%- for tool in tools %}{{- tool | tojson }}{%- endfor %}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>system\nYou are helpful.<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "tool" and (loop.index0 == 0 or messages[loop.index0 - 1].role != "tool") %}
        {{- '<tool>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
"#,
        "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi {{ x }}<|im_end|>\n<|im_start|>assistant\n",
    ),
    (
        "Qwen3",
        r#"{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == "user" %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}{%- set reasoning = message.content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}"#,
        "<|im_start|>user\nHi {{ x }}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    ),
    (
        "Llama 3",
        r#"{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}{%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if tools is not none %}{{- "Environment: ipython\n" }}{%- endif %}
{{- "Today Date: " + date_string + "\n\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}{{- raise_exception("one tool call") }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"#,
        "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 01 Jan 2025\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n\
         Hi {{ x }}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    (
        "Gemma 2",
        "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}\
         {% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('alternate') }}{% endif %}\
         {% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}\
         {{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}\
         {% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}",
        "<s><start_of_turn>user\nHi {{ x }}<end_of_turn>\n<start_of_turn>model\n",
    ),
    (
        "Gemma 3",
        r#"{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set first_user_prefix = messages[0]['content'] + '\n\n' -%}{%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}{%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}{%- set role = "model" -%}{%- else -%}{%- set role = message['role'] -%}{%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}{{ item['text'] | trim }}{%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}"#,
        "<s><start_of_turn>user\nHi {{ x }}<end_of_turn>\n<start_of_turn>model\n",
    ),
    (
        "Qwen3-Coder, Command A",
        "{%- set last = namespace(text=false) %}\r\n{%- if tools is iterable and tools | length > 0 %}\r\n\
         {{- '<tools>' }}\r\n{%- endif %}\r\n{%- for message in messages %}\r\n{%- set last.text = true %}\r\n\
         {{- '<|' + message.role + '|>\r\n' + message.content + '<|end|>' }}\r\n{%- endfor %}\r\n\
         {%- set last = false %}\r\n{{- '<|assistant|>' if last_role is iterable }}",
        "<|user|>\nHi {{ x }}<|end|><|assistant|>",
    ),
    (
        "Phi-3",
        "{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>\n' + message['content'] + '<|end|>\n'}}\
         {% elif message['role'] == 'user' %}{{'<|user|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endfor %}\
         {% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}",
        "<|user|>\nHi {{ x }}<|end|>\n<|assistant|>\n",
    ),
    (
        "Mistral",
        r#"{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set today = strftime_now("%Y-%m-%d") %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- for message in loop_messages | rejectattr("role", "equalto", "tool") | rejectattr("role", "equalto", "tool_results") | selectattr("tool_calls", "undefined") %}
    {%- if (message["role"] == "user") != (loop.index0 % 2 == 0) %}{{- raise_exception("roles must alternate") }}{%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}{{- "[AVAILABLE_TOOLS] [" }}{%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\n\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
"#,
        "<s>[INST] Hi {{ x }}[/INST]",
    ),
    (
        "Llama 2, CodeLlama",
        "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}\
         {% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}\
         {% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + message['content'] %}\
         {% else %}{% set content = message['content'] %}{% endif %}\
         {% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% endif %}{% endfor %}",
        "<s>[INST] Hi {{ x }} [/INST]",
    ),
    (
        "DeepSeek-Coder",
        "{% if not add_generation_prompt is defined %}\n{% set add_generation_prompt = false %}\n{% endif %}\n\
         {%- set ns = namespace(found=false) -%}\n{%- for message in messages -%}\n    {%- if message['role'] == 'system' -%}\n\
         {%- set ns.found = true -%}\n    {%- endif -%}\n{%- endfor -%}\n{{bos_token}}{%- if not ns.found -%}\n{{'You are a programmer.\\n'}}\n\
         {%- endif %}\n{%- for message in messages %}\n    {%- if message['role'] == 'system' %}\n{{ message['content'] }}\n    {%- else %}\n\
         {%- if message['role'] == 'user' %}\n{{'### Instruction:\\n' + message['content'] + '\\n'}}\n        {%- else %}\n\
         {{'### Response:\\n' + message['content'] + '\\n<|EOT|>\\n'}}\n        {%- endif %}\n    {%- endif %}\n{%- endfor %}\n\
         {% if add_generation_prompt %}\n{{'### Response:'}}\n{% endif %}",
        "<s>You are a programmer.\n### Instruction:\nHi {{ x }}\n### Response:\n",
    ),
    (
        "Granite 3",
        r#"{%- if messages[0]['role'] == 'system' %}{%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = "Knowledge Cutoff Date: April 2024.\nToday's Date: " + strftime_now('%B %d, %Y') + "." %}
    {%- if tools and documents %}{%- set system_message = system_message + " tools" %}{%- endif %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>
' }}
{%- for message in loop_messages %}
    {{- '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] + '<|end_of_text|>
' }}
    {%- if loop.last and add_generation_prompt %}
        {{- '<|start_of_role|>assistant' }}
        {%- if controls %}{{- ' ' + controls | tojson()}}{%- endif %}
        {{- '<|end_of_role|>' }}
    {%- endif %}
{%- endfor %}"#,
        "<|start_of_role|>system<|end_of_role|>Knowledge Cutoff Date: April 2024.\nToday's Date: January 01, 2025.<|end_of_text|>\n\
         <|start_of_role|>user<|end_of_role|>Hi {{ x }}<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
    ),
    (
        "Qwen3.5",
        r"{%- for message in messages %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}
    {%- else %}{{- '<think>\n' }}{%- endif %}
{%- endif %}",
        "<|im_start|>user\nHi {{ x }}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    ),
    (
        "gpt-oss",
        r#"{%- macro system() -%}
    {%- if reasoning_effort is not defined %}{%- set reasoning_effort = "medium" %}{%- endif %}
    {{- "Today: " + strftime_now("%Y-%m-%d") + "\nReasoning: " + reasoning_effort + "\n# Valid channels: analysis, final." }}
{%- endmacro -%}
{{- "<|start|>system<|message|>" }}{{- system() }}{{- "<|end|>" }}
{%- for message in messages -%}
    {%- if message.role == 'assistant' -%}
        {%- if "thinking" in message %}{{- "<|start|>assistant<|channel|>analysis<|message|>" + message.thinking + "<|end|>" }}{%- endif %}
        {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|return|>" }}
    {%- elif message.role == 'user' -%}
        {{- "<|start|>user<|message|>" + message.content + "<|end|>" }}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|start|>assistant
{%- endif -%}"#,
        "<|start|>system<|message|>Today: 2025-01-01\nReasoning: low\n# Valid channels: analysis, final.<|end|>\
         <|start|>user<|message|>Hi {{ x }}<|end|><|start|>assistant",
    ),
    (
        "Gemma 4",
        r"{{- bos_token -}}
{%- if enable_thinking is defined and enable_thinking -%}{{- '<|turn>system\n<|think|>\n<turn|>\n' -}}{%- endif -%}
{%- for message in messages -%}
    {{- '<|turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\n' -}}
    {{- message['content'] | trim + '<turn|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|turn>model\n' -}}
    {%- if not enable_thinking | default(false) -%}{{- '<|channel>thought\n<channel|>' -}}{%- endif -%}
{%- endif -%}",
        "<s><|turn>user\nHi {{ x }}<turn|>\n<|turn>model\n<|channel>thought\n<channel|>",
    ),
    (
        "marks for training, loop controls, macros, items",
        "{%- macro turn(role, text) -%}<{{ role }}>{{ text }}{%- endmacro -%}\n{%- for key, value in {'a': 'b'}.items() -%}{{ key ~ value }}{%- endfor -%}\n\
         {%- for message in messages -%}\n{%- generation -%}{{ turn(message.role, message.content) }}{%- endgeneration -%}{%- break -%}\n{%- endfor -%}\n\
         {% generation %}{% endgeneration %}</>{{ '{% generation' }}",
        "ab<user>Hi {{ x }}</>{% generation",
    ),
];

#[test]
fn templates_of_well_known_models_are_run() {
    for (name, text, expected) in SHAPES {
        assert_eq!(prompt(text), *expected, "{name}");
    }
}

#[test]
fn thinking_is_turned_off_where_a_template_has_a_switch() {
    let turn = |rest: &str| {
        format!(
            "{{% for m in messages %}}<|{{{{ m.role }}}}|>{{{{ m.content }}}}<|end|>{{% endfor %}}<|assistant|>{rest}"
        )
    };
    let after = |text: &str| template(text).render().unwrap().around().1.to_owned();
    let off = "<|end|><|assistant|><think>\n\n</think>\n";
    for name in ["enable_thinking", "thinking", "think"] {
        let text = turn(&format!(
            "{{% if {name} is defined and not {name} %}}<think>\n\n</think>\n{{% else %}}<think>{{% endif %}}"
        ));
        assert_eq!(after(&text), off, "{name}");
    }
    // Off unless it is asked for: nothing to be set.
    let text = turn("{% if thinking %}<think>{% endif %}");
    assert_eq!(after(&text), "<|end|><|assistant|>");
    // A value that is compared, and may be refused.
    let checked = "{% if reasoning_effort is defined and reasoning_effort not in ['none', 'high'] %}{{ raise_exception('effort') }}{% endif %}\
                   {% if reasoning_effort == 'none' %}<think></think>{% else %}<think>{% endif %}";
    assert_eq!(after(&turn(checked)), "<|end|><|assistant|><think></think>");
    let low = "{% if reasoning_effort is defined and reasoning_effort != 'low' %}{{ raise_exception('effort') }}{% endif %}\
               {{ '[short]' if reasoning_effort == 'low' else '<think>' }}";
    assert_eq!(after(&turn(low)), "<|end|><|assistant|>[short]");
    // A value that is written down whatever it is: one that the model has seen.
    let before = |text: &str| template(text).render().unwrap().around().0.to_owned();
    let written = "Reasoning: {{ reasoning_effort | default('medium') }}\n".to_owned() + &turn("");
    assert_eq!(before(&written), "Reasoning: low\n<|user|>");
    // A switch that leaves the thoughts open is none.
    let open = turn("{% if enable_thinking is defined %}now {% endif %}<think>");
    assert_eq!(after(&open), "<|end|><|assistant|><think>");
    assert_eq!(template(&open).render().unwrap().begun(), "<think>");
    let open = turn("{% if enable_thinking is defined %}now {% endif %}<|channel>thought\n");
    assert_eq!(after(&open), "<|end|><|assistant|><|channel>thought");
    let open = turn("{{ '<|channel|>' + ('final' if thinking is defined else 'analysis') + '<|message|>' }}");
    assert_eq!(after(&open), "<|end|><|assistant|><|channel|>final<|message|>");
    // The words of the user, for templates that look for them.
    let words = "{% set quiet = '/no_think' in messages[-1].content %}".to_owned()
        + &turn("{{ '<think></think>' if quiet else '<think>' }}");
    let chat = template(&words).render().unwrap();
    assert_eq!(&*chat.prompt("Hi"), "<|user|>Hi /no_think<|end|><|assistant|><think></think>");
    let turns = [(Role::User, "a"), (Role::Assistant, "b"), (Role::User, "c")];
    let turns = turns.map(|(role, words)| (role, words.to_owned()));
    let expected = "<|user|>a<|end|><|assistant|>b<|end|><|user|>c /no_think<|end|><|assistant|><think></think>";
    assert_eq!(chat.conversation(&turns).unwrap(), expected);
}

#[test]
fn the_words_of_a_system_are_the_users_where_a_template_refuses_them() {
    let gemma = SHAPES.iter().find(|(name, ..)| *name == "Gemma 2").unwrap().1;
    let turns = |all: &[(Role, &str)]| all.iter().map(|(role, words)| (*role, (*words).to_owned())).collect::<Vec<_>>();
    let chat = template(gemma).render().unwrap();
    let said = chat.conversation(&turns(&[(Role::System, "Be brief."), (Role::User, "Hi")])).unwrap();
    assert_eq!(said, "<s><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\n");
    // What is refused all the same is refused for its first reason.
    let twice = turns(&[(Role::System, "Be brief."), (Role::User, "a"), (Role::User, "b")]);
    let error = chat.conversation(&twice).unwrap_err().to_string();
    assert!(error.contains("System role not supported"), "{error}");
}

#[test]
fn how_an_answer_begins_is_told_by_the_template() {
    let opening = |text: &str| template(text).render().unwrap().opening().map(str::to_owned);
    let turns = |answer: &str, rest: &str| {
        format!(
            "{{% for m in messages %}}<|{{{{ m.role }}}}|>{{% if m.role == 'assistant' %}}{answer}{{% endif %}}{{{{ m.content }}}}<|end|>\
             {{% endfor %}}{{% if add_generation_prompt %}}<|assistant|>{rest}{{% endif %}}"
        )
    };
    // (before an answer in a conversation, at the end of the prompt, text that begins the answer)
    for (answer, rest, expected) in [
        ("", "", Some("")),
        ("<|channel|>final<|message|>", "", Some("<|channel|>final<|message|>")),
        // Thoughts of earlier answers are left out.
        ("", "<think>\n\n</think>\n\n", Some("")),
        ("<think>\n\n</think>\n\n", "<think>\n", Some("\n</think>\n\n")),
        // Thoughts that are open and how they are closed is not shown.
        ("", "<think>\n", None),
        ("<think>\n", "", None),
        ("other", "rest", None),
    ] {
        assert_eq!(opening(&turns(answer, rest)).as_deref(), expected, "{answer:?} {rest:?}");
    }
    assert_eq!(opening("{{ messages[0].content }}"), None, "answers are not shown");
    let refused = "{% if messages | length > 1 %}{{ raise_exception('one') }}{% endif %}{{ messages[0].content }}";
    assert_eq!(opening(refused), None);
    assert_eq!(Chat::of_server().opening(), None);
}

#[test]
fn the_end_of_a_turn_is_known() {
    let ends = |shape: usize| template(SHAPES[shape].1).render().unwrap().ends;
    assert_eq!(ends(1), ["<|im_end|>", "</s>"]);
    assert_eq!(ends(3), ["<|eot_id|>", "</s>"]);
    // Of several messages the end of one is none, and thoughts are the least that the template has.
    let shape = |name: &str| SHAPES.iter().position(|(of, ..)| *of == name).unwrap();
    assert_eq!(ends(shape("gpt-oss")), ["<|return|>", "</s>"]);
    assert_eq!(ends(shape("Gemma 4")), ["<turn|>", "</s>"]);
    let begun = |text: &str| template(text).render().unwrap().begun().to_owned();
    assert_eq!(begun("{{ messages[0].content }}<think>\n"), "<think>");
    assert_eq!(begun("{{ messages[0].content + '<think>\n' }}"), "<think>\n");
    assert_eq!(begun("{{ messages[0].content + '<|turn>model\n<|channel>thought\n' }}"), "<|channel>thought\n");
    let analysis = "<|channel|>analysis<|message|>";
    assert_eq!(begun(&format!("{{{{ messages[0].content }}}}<|end|><|start|>assistant{analysis}")), analysis);
    assert_eq!(begun("{{ messages[0].content }}<think>\n</think>\n"), "");
}

#[test]
fn hostile_templates_end() {
    let doubled = "{% set x = 'aaaaaaaaaaaaaaaa' %}".to_owned() + &"{% set x = x ~ x %}".repeat(60) + "{{ x }}";
    let nested = "{% if a %}".repeat(100_000);
    let hostile = [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{{ c }}{% endfor %}{% endfor %}{% endfor %}",
        "{% for a in range(999999999999) %}x{% endfor %}",
        "{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(1) }}",
        "{{ 'x' * 99999999999 }}",
        "{{ ['x'] * 99999999999 }}",
        "{{ (range(99999) | list) * 9999 }}",
        "{{ 'x'.replace('', 'y' * 100000).replace('y', 'z' * 100000) }}",
        "{{ 'a'.join(['x' * 100000] * 10000) }}",
        "{{ '{:999999999999}'.format(1) }}",
        "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}",
        "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns.a | tojson }}",
        "{% set ns = namespace() %}{% set x = {'a': ns} %}{% set ns.x = x %}{{ x }}",
        "{% macro f(a, x) %}{% set ns.a = x %}{% endmacro %}{% set ns = namespace() %}{{ f(1, ns) }}{{ ns }}",
        "{% macro f(ns) %}{% set ns.a = [ns] %}{% endmacro %}{% set ns = namespace() %}{{ f(ns) }}{{ ns }}",
        "{% macro f(ns) %}{% endmacro %}{% macro g(x) %}{% set x.a = x %}{% endmacro %}{% set f = g %}{% set ns = namespace() %}{{ f(ns) }}{{ ns.a }}",
        "{% macro f(ns, x) %}{% set ns.a = x %}{% endmacro %}{% set ns = namespace() %}{{ f(ns, (ns)) }}{{ f(x=ns, ns=ns) }}{{ ns.a }}",
        "{% set n = namespace %}{% set ns = n() %}{% set ns.a = ns %}{{ ns }}",
        "{{ 'a' | indent(99999999999) }}",
        "{{ [1] | batch(99999999999, 'x') | list }}",
        "{{ '%99999999999d' | format(1) }}",
        "{{ 10 ** 10 ** 10 }}",
        "{% include '/etc/passwd' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{{ open('/etc/passwd') }}",
        "{{ ''.__class__.__mro__ }}{{ messages.__class__.x.y }}",
        "{% if",
        "{{ messages[0].content }}{{ messages[0].content }}",
        "nothing",
        "{{ raise_exception('only \x1b[31mtools') }}",
        &doubled,
        &nested,
        &format!("{{{{ {}1 }}}}", "1+".repeat(30_000)),
        &format!("{{{{ a{} }}}}", "|e".repeat(30_000)),
        &format!("{{{{ {}1 }}}}", "not ".repeat(15_000)),
        &"(".repeat(100_000),
        &("{{ ".to_owned() + &"(".repeat(100_000)),
        &"x".repeat(MOST_BYTES + 1),
    ];
    for text in hostile {
        let error = template(text).render().expect_err(text).to_string();
        let shown = &text[..text.len().min(60)];
        assert!(error.starts_with("m/chat_template.jinja: ") && error.contains("--chat no"), "{shown}: {error}");
        assert!(error.len() < 500 && !error.contains('\x1b'), "{shown}: {error}");
    }
    // No steps are counted in lists of lists: that has to end, too.
    let lists = "{% set a = ['x'] %}".to_owned() + &"{% set a = [a, a] %}".repeat(30) + "{{ a }}";
    let patience = template(&lists).render().unwrap_err().to_string();
    assert!(patience.contains("it takes more than 1 s"), "{patience}");
    let memory = template(&doubled).render().unwrap_err().to_string();
    assert!(memory.contains("more steps or memory"), "{memory}");
}

#[test]
fn macros_may_count_in_objects() {
    let text = "{%- macro next(text, state) -%}{%- set state.n = state.n + 1 -%}{{ text ~ state.n }}{%- endmacro -%}\
                {%- macro twice(state, words=['a', 'b']) -%}{{ next('x', state) }}{{ next(words[0], state) }}{%- endmacro -%}\
                {%- set state = namespace(n=0) -%}{{ twice(state) }}{{ messages[0].content }}{{ next((1, 2)[0], state) }}";
    assert_eq!(prompt(text), "x1a2Hi {{ x }}13");
}

#[test]
fn templates_are_found_in_the_files_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let read = || Template::of_folder(folder.path());
    assert_eq!(read().unwrap(), None);
    put(SETTINGS, r#"{"bos_token": {"content": "<b>"}, "eos_token": "<e>", "pad_token": null}"#);
    assert_eq!(read().unwrap(), None);
    put(SETTINGS, r#"{"bos_token": {"content": "<b>"}, "eos_token": "<e>", "chat_template": "{{ bos_token }}"}"#);
    let found = read().unwrap().unwrap();
    assert_eq!(found.text, "{{ bos_token }}");
    let tokens = [("bos_token", "<b>"), ("eos_token", "<e>")].map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(found.tokens, tokens);
    put(
        SETTINGS,
        r#"{"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]}"#,
    );
    assert_eq!(read().unwrap().unwrap().text, "d");
    put(FILE, "j");
    assert_eq!(read().unwrap().unwrap().text, "j");
    fs::remove_file(folder.path().join(FILE)).unwrap();
    for wrong in [r#"{"chat_template": 3}"#, "[", r#"{"bos_token": 3}"#] {
        put(SETTINGS, wrong);
        assert!(read().unwrap_err().to_string().contains(SETTINGS), "{wrong}");
    }
}

#[test]
fn models_that_were_taught_conversations_are_known_by_name() {
    for name in [
        "Qwen2.5-Coder-7B-Instruct", "Llama-3.2-1B-Instruct-Q4_K_M", "gemma-2-2b-it", "gemma-3-1b-it-GGUF",
        "starchat-beta", "deepseek-llm-7b-chat", "CodeLlama-7b-Instruct-hf", "codellama:7b-instruct",
        "Qwen2.5 Coder 7B Instruct", "Mistral-7B-Instruct-v0.3", "Qwen3-8B", "qwen3:4b", "DeepSeek-R1-Distill-Qwen-7B",
    ] {
        assert!(is_named(name), "{name}");
    }
    for name in [
        "Qwen2.5-Coder-7B", "Qwen3-8B-Base", "gemma-2-2b", "starcoder2-3b", "built-in", "granite-3b-code-base",
        "gpt-bigcode", "italian-7b",
    ] {
        assert!(!is_named(name), "{name}");
    }
}
