//! Process-wide state: the settings of the code generator, and the stub for calls of Rust functions.

use std::mem::offset_of;
use std::sync::{Arc, OnceLock};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, MemFlagsData, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use forthwith_kernels::CpuFeatures;

use super::context::{Context, HELPER_ARGUMENTS};
use super::memory::Executable;
use crate::jit::Refusal;

pub(super) struct Host {
    pub(super) isa: OwnedTargetIsa,
    /// Stub that calls the helper named in the context and preserves all registers. Machine code calls it in
    /// rare cases, for which it must neither spill its registers nor move them for arguments.
    stub: Executable,
    /// Whether the processor can shuffle the bytes of a vector.
    pub(super) shuffles: bool,
}

impl Host {
    pub(super) fn shared() -> Result<&'static Arc<Self>, Refusal> {
        static HOST: OnceLock<Result<Arc<Host>, Refusal>> = OnceLock::new();
        HOST.get_or_init(|| Self::new().map(Arc::new)).as_ref().map_err(|refusal| *refusal)
    }

    fn new() -> Result<Self, Refusal> {
        if !slices_are_start_and_length() {
            return Err(Refusal::NotSupported);
        }
        let isa = isa().ok_or(Refusal::NotSupported)?;
        let code = stub(isa.as_ref()).ok_or(Refusal::NotSupported)?;
        let stub = Executable::new(&code).ok_or(Refusal::NoExecutableMemory)?;
        Ok(Self { isa, stub, shuffles: CpuFeatures::current().shuffles() })
    }

    pub(super) fn stub(&self) -> i64 {
        self.stub.address(0) as i64
    }
}

pub(super) fn stub_signature() -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params = vec![AbiParam::new(types::I64)];
    signature
}

fn isa() -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    // "speed" compiles more slowly and, as measured, runs no faster: it keeps more values alive than there
    // are registers.
    for (name, value) in [
        ("opt_level", "none"),
        ("enable_verifier", verify),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
        ("machine_code_cfg_info", "false"),
    ] {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}

/// Whether a slice is a start and a length. Machine code gets slices as they are, and their layout is not
/// guaranteed.
fn slices_are_start_and_length() -> bool {
    let bytes = [1_u8, 2, 3];
    let slice: &[u8] = &bytes[1..];
    // SAFETY: any two words are two numbers; a difference in size would be a compile error.
    let words: [usize; 2] = unsafe { std::mem::transmute(slice) };
    words == [slice.as_ptr() as usize, 2]
}

fn stub(isa: &dyn TargetIsa) -> Option<Vec<u8>> {
    let mut function = Function::with_name_signature(UserFuncName::user(0, 0), stub_signature());
    let mut builder_context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut function, &mut builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let context = b.block_params(block)[0];
    let mut load = |offset: usize| b.ins().load(types::I64, MemFlagsData::trusted(), context, offset as i32);
    let helper = load(offset_of!(Context, helper));
    let mut arguments = vec![context];
    arguments.extend((0..HELPER_ARGUMENTS).map(|at| load(offset_of!(Context, arguments) + 8 * at)));
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params = vec![AbiParam::new(types::I64); 1 + HELPER_ARGUMENTS];
    let signature = b.import_signature(signature);
    b.ins().call_indirect(signature, helper, &arguments);
    b.ins().return_(&[]);
    b.finalize(isa.frontend_config());
    let mut context = cranelift_codegen::Context::for_function(function);
    let code = context.compile(isa, &mut ControlPlane::default()).ok()?;
    code.buffer.relocs().is_empty().then(|| code.code_buffer().to_vec())
}
